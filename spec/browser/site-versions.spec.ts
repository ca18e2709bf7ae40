import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from './chromium.js';

const run = promisify(execFile);

describe('The versions of the documentation site', () => {
  let browser: Browser | undefined;
  let folder: string;
  let server: Server;
  let url: string;

  before(async () => {
    browser = await startChromium();
    folder = await mkdtemp(join(tmpdir(), 'site-versions-'));
    server = createServer((request, response) => {
      const path = (request.url ?? '/').replace(/\/$/, '/index.html');
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
      readFile(join(folder, 'sites', path)).then(
        (content) => response.setHeader('content-type', type).end(content),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const version of ['0.9.1', '0.10.0', '0.10.2']) {
      const pages = version === '0.9.1' ? ['docs/old.html'] : [];
      await release(version, ['index.html', 'docs/run.html', ...pages]);
    }
  });

  after(async () => {
    await browser?.close();
    server.close();
    await rm(folder, { recursive: true });
  });

  /** Releases a site of these pages. They have only the parts of real pages that the list of versions depends on. */
  async function release(version: string, pages: readonly string[]): Promise<void> {
    const site = join(folder, 'site');
    await rm(site, { recursive: true, force: true });
    for (const page of pages) {
      const base = page.includes('/') ? '../' : './';
      const header = `<header><a class="title">${version}</a></header>`;
      const script = `<script defer src="${base}assets/custom.js"></script>`;
      await mkdir(dirname(join(site, page)), { recursive: true });
      await writeFile(
        join(site, page),
        `<!doctype html><html data-base="${base}"><body>${header}${script}</body></html>`,
      );
    }
    await cp('scripts/docs/versions.js', join(site, 'assets/custom.js'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ version }));
    await mkdir(join(folder, 'sites'), { recursive: true });
    const program = [resolve('scripts/docs/release-site.ts'), 'sites'];
    await run(resolve('node_modules/.bin/tsx'), program, { cwd: folder });
  }

  async function open(path: string): Promise<Page> {
    if (browser === undefined) throw new Error('Chromium was not started');
    const page = await browser.newPage();
    await page.goto(url + path);
    return page;
  }

  it('are listed with the newest first, and the start page opens the newest', async () => {
    const page = await open('/');
    await page.waitForURL(`${url}/v0.10/`);
    const list = page.locator('#versions');
    await list.locator('option').first().waitFor({ state: 'attached' });
    expect(await list.locator('option').allTextContents()).to.deep.equal(['v0.10', 'v0.9']);
    expect(await list.inputValue()).to.equal('v0.10');
    // The later patch release replaced the first.
    expect(await page.locator('.title').textContent()).to.equal('0.10.2');
  });

  it('open the same page, or the start page of a version that lacks the page', async () => {
    const page = await open('/v0.10/docs/run.html');
    await page.locator('#versions').selectOption('v0.9');
    await page.waitForURL(`${url}/v0.9/docs/run.html`);
    await page.goto(`${url}/v0.9/docs/old.html`);
    await page.locator('#versions').selectOption('v0.10');
    await page.waitForURL(`${url}/v0.10/index.html`);
  });
});
