/** Style of all pages; colours have a contrast of at least 4.5 to 1, in light and dark mode. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1b1f24; --dim: #565e67; --ground: #ffffff; --line: #c9d0d8;
  --band: #f3f5f8; --link: #0550ae; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ed; --dim: #a5aeb9; --ground: #14171b; --line: #3c444d; --band: #1d2126;
    --link: #8ab8ff; --bad: #ff9b93; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 90rem; font: 0.95rem/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--ground); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }
header { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 0.5rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; }
#live { color: var(--dim); margin: 0.25rem 0; }
button, input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--dim);
  border-radius: 0.25rem; padding: 0.2rem 0.5rem; }
form { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; }
label { display: grid; gap: 0.15rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--dim); padding-bottom: 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; font-weight: normal;
  border-bottom: 1px solid var(--line); overflow-wrap: break-word; max-width: 40rem; }
thead th { font-weight: 600; white-space: nowrap; background: var(--band); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.none, .more, .note { color: var(--dim); }
.bad { color: var(--bad); }
time, .number { white-space: nowrap; }
h1, .message { overflow-wrap: anywhere; }
.message { white-space: pre-wrap; }
.causes { margin: 0; padding-left: 1rem; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0; }
dt { color: var(--dim); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.tree, .tree ul { list-style: none; padding-left: 1.25rem; border-left: 1px solid var(--line); }
.tree li { padding: 0.15rem 0; }
.chosen { font-weight: 600; }
`;
