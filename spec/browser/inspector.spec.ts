import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startChromium } from './chromium.js';
import { InspectedOperator } from './inspected-operator.js';

describe('The inspector in Chromium', () => {
  let browser: Browser | undefined;
  let operator: InspectedOperator;
  let context: BrowserContext;
  /** Unexpected messages of the console. */
  let complaints: string[];

  before(async () => {
    browser = await startChromium();
  });
  after(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    complaints = [];
    operator = await InspectedOperator.start();
  });
  afterEach(async () => {
    await context.close();
    await operator.stop();
    expect(complaints).to.deep.equal([]);
  });

  /** Opens a page and records its errors, including violations of the Content-Security-Policy. */
  async function open(path = '/', { javaScriptEnabled = true } = {}): Promise<Page> {
    if (browser === undefined) throw new Error('Chromium was not started');
    context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    await page.goto(operator.url + path);
    return page;
  }

  it('shows everything without JavaScript', async () => {
    await operator.create('good');
    await operator.create('bad');
    const page = await open('/', { javaScriptEnabled: false });
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(headings).to.deep.equal([
      ...['This process', 'Controllers', 'Reconciled now', 'Held keys', 'Queues'],
      ...[
        'Recent reconciles',
        'Last errors',
        'Hot loops',
        'Caches',
        'Quarantine',
        'Sources in trouble',
      ],
      ...['Webhooks', 'Shards', 'Servers and other runnables', 'Choose an object'],
    ]);
    expect(await page.getByRole('row', { name: /default\/good/ }).count()).to.be.at.least(1);
    expect(await page.locator('#failures').innerText()).to.include('default/bad');
    expect(await page.locator('#live').innerText()).to.include('Reload');
    // The form and the links must work without JavaScript, too.
    await page.getByRole('combobox', { name: 'API version' }).fill('v1');
    await page.getByRole('combobox', { name: 'Kind' }).fill('ConfigMap');
    await page.getByRole('textbox', { name: 'Namespace' }).fill('default');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('good');
    await page.getByRole('button', { name: 'Show ownership' }).click();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal(
      'ConfigMap default/good',
    );
  });

  it('updates after a reconcile without a reload', async () => {
    const page = await open();
    await page.getByText('Live: this page updates by itself.').waitFor();
    await page.evaluate("document.body.dataset.mark = 'same page'");
    await operator.create('late');
    await page.locator('#recent').getByText('default/late').first().waitFor();
    expect(await page.evaluate('document.body.dataset.mark')).to.equal('same page');
  });

  it('keeps the focus during an update', async () => {
    await operator.create('first');
    const page = await open();
    const link = page.locator('#recent').getByRole('link', { name: 'default/first' }).first();
    await link.focus();
    await operator.create('second');
    await page.locator('#recent').getByText('default/second').first().waitFor();
    // If the link had lost the focus, the body would be the active element.
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('default/first');
  });

  it('can be paused and resumed', async () => {
    const page = await open();
    await page.getByText('Live: this page').waitFor();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByText('Paused.').waitFor();
    const asOf = await page.locator('#process time').getAttribute('datetime');
    await operator.create('late');
    // A second page shows that the update was sent.
    const other = await context.newPage();
    await other.goto(operator.url);
    await other.locator('#recent').getByText('default/late').first().waitFor();
    expect(await page.locator('#process time').getAttribute('datetime')).to.equal(asOf);
    await page.getByRole('button', { name: 'Resume updates' }).click();
    await page.locator('#recent').getByText('default/late').first().waitFor();
  });

  it('reports a lost connection', async () => {
    const page = await open();
    await page.getByText('Live: this page').waitFor();
    await operator.stop();
    await page.getByText('Not live: no connection.').waitFor();
    // Refused connections are expected from here on.
    await context.close();
    complaints = complaints.filter((text) => !text.includes('net::ERR'));
  });

  it('shows the ownership tree of a chosen object without its data', async () => {
    await operator.createTree();
    const page = await open();
    const rows = page.locator('#recent').getByRole('link', { name: 'default/shop', exact: true });
    await rows.first().click();
    expect(await page.locator('#owners').innerText()).to.include('Deployment default/shop');
    expect(await page.locator('#owners').innerText()).to.include('Available: True');
    expect(await page.locator('#dependents').innerText()).to.include('Secret default/shop-key');
    expect(await page.content()).to.not.include('never-shown');
    await page.getByRole('link', { name: 'Deployment default/shop' }).click();
    expect(await page.locator('#object').innerText()).to.include('the server: it is not cached');
    expect(await page.locator('#conditions').innerText()).to.include('Available');
  });

  it('updates the tree when a dependent is created', async () => {
    const owner = await operator.create('owner');
    const page = await open('/object?apiVersion=v1&kind=ConfigMap&namespace=default&name=owner');
    expect(await page.locator('#dependents').innerText()).to.include('Nothing that is cached');
    const { uid = '' } = owner.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true };
    await operator.person.create({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'child', namespace: 'default', ownerReferences: [reference] },
    });
    await page.locator('#dependents').getByText('ConfigMap default/child').waitFor();
  });

  it('escapes names, errors and conditions', async () => {
    await operator.createTree();
    await operator.create('bad');
    const page = await open();
    await page.locator('#failures').getByText('default/bad').waitFor();
    await page.getByText('Live: this page').waitFor();
    // The page escapes the message in live updates, too, not only when it is loaded.
    await page.locator('#failures .message').getByText('<img src=x').waitFor();
    expect(await page.locator('main img, main script').count()).to.equal(0);
    expect(await page.title()).to.equal('Operator inspector');
    await page.goto(
      `${operator.url}/object?apiVersion=apps/v1&kind=Deployment&namespace=default&name=shop`,
    );
    expect(await page.locator('#conditions .message').innerText()).to.include('<img src=x');
    expect(await page.locator('main img, main script').count()).to.equal(0);
    expect(await page.title()).to.equal('Deployment default/shop');
  });

  it('supports keyboard navigation and landmarks', async () => {
    await operator.create('good');
    const page = await open();
    for (const role of ['banner', 'main'] as const) {
      expect(await page.getByRole(role).count(), role).to.equal(1);
    }
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).to.equal(1);
    expect(await page.getByRole('region', { name: 'Caches' }).count()).to.equal(1);
    expect(await page.getByRole('table', { name: 'Cached kinds' }).count()).to.equal(1);
    expect(await page.locator('html').getAttribute('lang')).to.equal('en');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#main$/);
    await page.getByRole('link', { name: 'Caches', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#caches-title$/);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has a contrast of at least 4.5 to 1 in the ${colorScheme} scheme`, async () => {
      await operator.create('bad');
      const page = await open();
      await page.emulateMedia({ colorScheme });
      const colours = await page.evaluate<
        [string, string][]
      >(`[...document.querySelectorAll('main *, header *')]
        .filter((each) => each.childElementCount === 0 && each.textContent.trim() !== '')
        .map((each) => {
          let ground = each;
          while (ground && getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
          return [getComputedStyle(each).color, getComputedStyle(ground ?? document.body).backgroundColor];
        })`);
      const pairs = new Map(colours.map((pair) => [pair.join(' on '), contrast(...pair)]));
      expect(pairs.size).to.be.at.least(3);
      for (const [pair, ratio] of pairs) expect(ratio, pair).to.be.at.least(4.5);
    });
  }
});

/** Returns the contrast of two colours, as WCAG defines it. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
