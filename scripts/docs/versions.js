// Runs in the pages of the site: offers the other versions of it, if `versions.json` in the folder above lists any.
/* global document, fetch, location */
const { base } = document.documentElement.dataset;
const root = new globalThis.URL(base, location.href);
fetch(new globalThis.URL('../versions.json', root)).then(
  async (response) => response.ok && offer(await response.json()),
  () => undefined, // A page of the file system.
);

/** Adds a list of versions beside the title. Another version may lack the page, so its start page is opened then. */
function offer(versions) {
  const current = root.pathname.split('/').at(-2);
  const list = document.createElement('select');
  list.id = 'versions';
  list.ariaLabel = 'Version';
  for (const version of versions) {
    const option = document.createElement('option');
    option.textContent = version;
    option.selected = version === current;
    list.append(option);
  }
  list.addEventListener('change', async () => {
    const other = new globalThis.URL(`../${list.value}/`, root);
    const page = new globalThis.URL(location.pathname.slice(root.pathname.length), other);
    const { ok } = await fetch(page, { method: 'HEAD' });
    location.assign(ok ? page : new globalThis.URL('index.html', other));
  });
  document.querySelector('header a.title').after(list);
}
