// SPDX-License-Identifier: Apache-2.0
// The style sheet of the HTML report: one column, quiet colours, light and dark, print.
#pragma once

#include <string_view>

namespace corridor::report {

inline constexpr std::string_view html_style = R"css(
:root{color-scheme:light dark;--ink:#1d2329;--soft:#5c6670;--faint:#8b949d;--line:#e3e6e9;--back:#fff;--panel:#f6f7f8;
--accent:#2f6690;--warn:#9a6412;--warnback:#fdf6e8;--c0:#3a6ea5;--c1:#d9944a;--c2:#5f9e7a;--c3:#b95d73;--c4:#8272b4;
--c5:#55a6b5;--c6:#958d80;--c7:#c4ac48}
@media (prefers-color-scheme:dark){:root{--ink:#e4e7ea;--soft:#a3adb6;--faint:#78838d;--line:#2d343b;--back:#15191d;
--panel:#1d2227;--accent:#7fb4dd;--warn:#e0b063;--warnback:#2a2418;--c0:#6b9fd4;--c1:#e0a765;--c2:#7cba95;--c3:#d17f93;
--c4:#a294d0;--c5:#74c0ce;--c6:#aaa396;--c7:#d4bf66}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--faint:#666;--line:#ccc;--back:#fff;--panel:#fff;
--accent:#1d4e75;--warn:#7a4c05;--warnback:#fff;--c0:#3a6ea5;--c1:#d9944a;--c2:#5f9e7a;--c3:#b95d73;--c4:#8272b4;
--c5:#55a6b5;--c6:#958d80;--c7:#c4ac48}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","Noto Sans CJK SC",sans-serif;-webkit-text-size-adjust:100%}
main{max-width:860px;margin:0 auto;padding:48px 24px 72px}
h1{font-size:1.5rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;margin:0 0 20px;overflow-wrap:anywhere}
h2{font-size:1.02rem;font-weight:650;margin:0 0 12px}
section{margin:40px 0 0}
p{margin:12px 0;max-width:72ch;white-space:pre-line;overflow-wrap:anywhere}
.verdict{font-size:1.12rem;border-left:4px solid var(--accent);padding:2px 0 2px 16px;margin:20px 0}
.warning{border-left:4px solid var(--warn);background:var(--warnback);padding:8px 16px;margin:12px 0;color:var(--ink)}
.warning b{color:var(--warn);font-weight:600}
ul{margin:0;padding:0 0 0 18px;max-width:76ch;color:var(--soft);font-size:.9rem}
li{margin:5px 0;white-space:pre-line;overflow-wrap:anywhere}
.scroll{overflow-x:auto;background:linear-gradient(90deg,var(--back) 20px,transparent) 0 0/40px 100% no-repeat local,
linear-gradient(270deg,var(--back) 20px,transparent) 100% 0/40px 100% no-repeat local,
linear-gradient(90deg,var(--line),transparent) 0 0/16px 100% no-repeat,
linear-gradient(270deg,var(--line),transparent) 100% 0/16px 100% no-repeat}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.94rem}
.data{min-width:100%}
.data th,.data td{padding:7px 0 7px 24px;text-align:right;vertical-align:top;border-bottom:1px solid var(--line)}
.data td.num,.legend td.num{white-space:nowrap}
.data th{font-weight:550;color:var(--soft);vertical-align:bottom;font-size:.86rem}
.data .t{text-align:left;min-width:7em}
.data th:first-child,.data td:first-child{padding-left:0}
.fields{width:100%}
.fields th,.fields td{padding:6px 20px 6px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
.fields th{font-weight:400;color:var(--soft);width:36%}
.fields td.v{font-weight:550;overflow-wrap:anywhere}
.fields td.n{color:var(--soft);font-size:.88rem;padding-right:0;width:38%}
.fields td.n:empty{width:0;padding:0}
figure{margin:0}
svg{display:block;width:100%}
svg.bar{height:28px;margin:4px 0 14px}
.chart text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:var(--soft);
font-variant-numeric:tabular-nums}
.chart text.tick{fill:var(--faint)}
.chart text.pointlabel{fill:var(--ink)}
.chart text.strong{fill:var(--ink);font-weight:600}
.chart text.rooflabel,.chart text.pointlabel{paint-order:stroke;stroke:var(--back);stroke-width:4px;stroke-linejoin:round}
.grid{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--faint);stroke-width:1}
.roof{stroke:var(--faint);stroke-width:1.2}
.roof.main{stroke:var(--ink);stroke-width:2}
.roof.reached{stroke:var(--soft);stroke-dasharray:6 4}
.ridge{stroke:var(--faint);stroke-width:1;stroke-dasharray:2 4}
.leader{stroke:var(--faint);stroke-width:1}
.point{fill-opacity:.72;stroke:var(--back);stroke-width:1.2}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.empty{fill:var(--line)}.mark{fill:var(--ink)}
.s0{fill:var(--c0);background:var(--c0)}.s1{fill:var(--c1);background:var(--c1)}.s2{fill:var(--c2);background:var(--c2)}
.s3{fill:var(--c3);background:var(--c3)}.s4{fill:var(--c4);background:var(--c4)}.s5{fill:var(--c5);background:var(--c5)}
.s6{fill:var(--c6);background:var(--c6)}.s7{fill:var(--c7);background:var(--c7)}
.l0{stroke:var(--c0)}.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}.l3{stroke:var(--c3)}.l4{stroke:var(--c4)}
.l5{stroke:var(--c5)}.l6{stroke:var(--c6)}.l7{stroke:var(--c7)}
i.key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:8px}
i.rest{background:var(--line)}
.legend td{padding:4px 28px 4px 0;vertical-align:baseline}
.legend td.num{text-align:right}
.keys{display:flex;flex-wrap:wrap;gap:6px 22px;margin:8px 0 0;font-size:.88rem;color:var(--soft)}
footer{margin-top:56px;padding-top:14px;border-top:1px solid var(--line);color:var(--faint);font-size:.82rem}
@media (max-width:600px){main{padding:28px 16px 48px}h1{font-size:1.28rem}.chart{min-width:620px}
.data th,.data td{padding-left:16px}
.fields,.fields tbody{display:block;width:100%}
.fields tr{display:grid;grid-template-columns:1fr auto;column-gap:16px;border-bottom:1px solid var(--line);padding:7px 0}
.fields th,.fields td,.fields td.n{border:0;padding:0;width:auto}
.fields td.v{text-align:right;max-width:56vw}.fields td.n{grid-column:1/3}}
@media print{body{font-size:11pt}main{max-width:none;padding:0}section,figure,tr{break-inside:avoid}
.scroll{overflow:visible}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";

}  // namespace corridor::report
