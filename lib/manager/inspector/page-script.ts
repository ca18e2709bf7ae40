/**
 * Script that updates a live page: it receives changed sections and replaces them. The server escapes their
 * markup. Focus and scroll positions are kept; while text is selected in a section, its update waits.
 */
export const pageScript = `
(() => {
  const state = document.getElementById('live');
  const button = document.createElement('button');
  const waiting = new Map();
  let source;
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  const markOf = (element) => element.id || element.getAttribute('href');
  const isSelected = (element) => {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  };
  const put = (element, markup) => {
    const active = document.activeElement;
    const mark = element.contains(active) ? markOf(active) : null;
    const scrolled = [...element.querySelectorAll('.scroll')].map(({ id, scrollLeft }) => [id, scrollLeft]);
    element.innerHTML = markup;
    for (const [id, left] of scrolled) {
      const found = document.getElementById(id);
      if (found !== null) found.scrollLeft = left;
    }
    if (mark === null) return;
    const same = [...element.querySelectorAll('a, [tabindex]')].find((each) => markOf(each) === mark);
    if (same !== undefined) same.focus({ preventScroll: true });
  };
  const putAll = () => {
    for (const [id, markup] of [...waiting]) {
      const element = document.getElementById(id);
      if (element !== null && isSelected(element)) continue;
      waiting.delete(id);
      if (element !== null) put(element, markup);
    }
  };
  const stop = () => { if (source !== undefined) source.close(); source = undefined; };
  const start = () => {
    stop();
    const own = new EventSource(document.body.dataset.events);
    source = own;
    say('Connecting\\u2026');
    own.onopen = () => say('Live: this page updates by itself.');
    own.onerror = () => {
      say('Not live: no connection. What you see may be old.');
      if (own.readyState !== EventSource.CLOSED) return;
      setTimeout(() => { if (source === own) start(); }, 5000);
    };
    own.addEventListener('section', ({ data }) => {
      const { id, markup } = JSON.parse(data);
      waiting.set(id, markup);
      putAll();
    });
  };
  button.type = 'button';
  button.textContent = 'Pause updates';
  button.addEventListener('click', () => {
    if (source === undefined) { button.textContent = 'Pause updates'; start(); return; }
    stop();
    button.textContent = 'Resume updates';
    say('Paused.');
  });
  state.after(button);
  document.addEventListener('selectionchange', putAll);
  // A page that is kept in the browser's history must not hold one of the few connections.
  addEventListener('pagehide', stop);
  addEventListener('pageshow', ({ persisted }) => { if (persisted && button.textContent === 'Pause updates') start(); });
  start();
})();
`;
