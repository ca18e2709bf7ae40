import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { pages, sections, titleOf } from '../../scripts/docs/pages.js';
import { docPages } from '../../scripts/docs/snippets.js';

describe('pages of the docs', () => {
  it("are all in the site's navigation, once, each with a title", async () => {
    const written = (await docPages()).filter((page) => page.startsWith('docs/'));
    expect(written.filter((page) => !pages.includes(page))).to.deep.equal([]);
    expect(pages).to.have.length(new Set(pages).size);
    const titles = await Promise.all(pages.map(titleOf));
    expect(titles).to.have.length(new Set(titles).size);
    expect(sections.filter((section) => section.pages.length === 0)).to.deep.equal([]);
  });

  it('are all linked from the README', async () => {
    const named = linksOf(await readFile('README.md', 'utf8')).map(({ file }) => file);
    expect(pages.filter((page) => !named.includes(page))).to.deep.equal([]);
  });

  it('link to existing files and headings', async () => {
    const broken = await Promise.all(
      ['README.md', ...pages].map(async (page) => {
        const links = linksOf(await readFile(page, 'utf8'));
        const missing = await Promise.all(links.map((link) => problemOf(page, link)));
        return missing.filter((problem) => problem !== undefined);
      }),
    );
    expect(broken.flat()).to.deep.equal([]);
  });
});

interface Link {
  /** Path relative to the page; empty for the page itself. */
  readonly file: string;
  readonly heading: string | undefined;
}

/** Returns the links to files of the project, except those in code. */
function linksOf(text: string): readonly Link[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '`');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', heading] = target.split('#');
      return { file, heading };
    });
}

async function problemOf(page: string, { file, heading }: Link): Promise<string | undefined> {
  const path = file === '' ? page : join(dirname(page), file);
  if (!existsSync(path)) return `${page}: there is no ${path}`;
  if (heading === undefined || anchorsOf(await readFile(path, 'utf8')).has(heading)) return;
  return `${page}: ${path} has no heading #${heading}`;
}

/** Returns the anchors of headings, as GitHub generates them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
