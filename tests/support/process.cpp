// SPDX-License-Identifier: Apache-2.0
// Process start by posix_spawn, both streams read with poll until they close or the time limit passes.
#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace corridor::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Reads one quoted or bare word starting at `at`; false when a quote stays open or a shell feature is met.
bool read_word(std::string_view line, std::size_t& at, std::string& word) {
  char quote = '\0';
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '<')) break;
    if (quote == '\0' && std::strchr("|>&;$`", c) != nullptr) return false;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && at + 1 < line.size()) {
      word += line[++at];
    } else {
      word += c;
    }
  }
  return quote == '\0';
}

std::vector<std::string> test_environment() {
  std::vector<std::string> variables{"NO_COLOR=1", "LC_ALL=C.UTF-8"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("NO_COLOR=") || text.starts_with("LC_ALL=") || text.starts_with("COLUMNS=")) continue;
    variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Reads both pipes until they are closed. False when the time limit passed first.
bool drain(const std::array<int, 2>& pipes, ProcessResult& result, Clock::time_point deadline) {
  std::array<pollfd, 2> waiting{pollfd{pipes[0], POLLIN, 0}, pollfd{pipes[1], POLLIN, 0}};
  const std::array<std::string*, 2> sinks{&result.output, &result.errors};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return true;
    for (std::size_t i = 0; ready > 0 && i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = ::read(waiting[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        sinks[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        waiting[i].fd = -1;
      }
    }
  }
  return true;
}

/// Starts the program with its three streams connected. The error number of posix_spawnp.
int spawn(const CommandLine& command, int output, int errors, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string input = command.input_file.empty() ? "/dev/null" : command.input_file;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> variables = test_environment();
  const int error = ::posix_spawnp(&child, arguments.front().c_str(), &actions, nullptr, pointers(arguments).data(),
                                   pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<CommandLine> split_command_line(std::string_view line) {
  CommandLine command;
  bool input_next = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
    } else if (line[at] == '<') {
      if (input_next) return std::nullopt;
      input_next = true;
      ++at;
    } else {
      std::string word;
      if (!read_word(line, at, word)) return std::nullopt;
      if (input_next) {
        command.input_file = std::move(word);
      } else {
        command.arguments.push_back(std::move(word));
      }
      input_next = false;
    }
  }
  if (input_next) return std::nullopt;
  return command;
}

ProcessResult run_process(const CommandLine& command, const ProcessOptions& options) {
  ProcessResult result;
  result.exit_code = 127;
  if (command.arguments.empty()) {
    result.errors = "empty command";
    return result;
  }
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) {
    result.errors = std::strerror(errno);
    return result;
  }
  pid_t child = 0;
  const int error = spawn(command, out[1], options.merge_streams ? out[1] : err[1], child);
  ::close(out[1]);
  ::close(err[1]);
  if (error != 0) {
    result.errors = "cannot start " + command.arguments.front() + ": " + std::strerror(error);
  } else {
    result.timed_out = !drain({out[0], err[0]}, result, Clock::now() + options.time_limit);
    if (result.timed_out) ::kill(child, SIGKILL);
    result.exit_code = wait_for(child);
  }
  ::close(out[0]);
  ::close(err[0]);
  return result;
}

}  // namespace corridor::test
