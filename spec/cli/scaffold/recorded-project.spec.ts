import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { cli, scratchDirectory } from '../cli.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

const recording = new URL('recorded-project.txt', import.meta.url);
const ruler = '='.repeat(8);

/** The folders whose files depend on the kinds of the project. */
const recorded = /^(?:charts|config|src|test)\//;

/** Reads the recorded files by path. */
async function recordedTexts(): Promise<Readonly<Record<string, string>>> {
  const parts = (await readFile(recording, 'utf8')).split(new RegExp(`^${ruler} `, 'm')).slice(1);
  return Object.fromEntries(
    parts.map((part) => [
      part.slice(0, part.indexOf('\n')),
      part.slice(part.indexOf('\n') + 1, -1),
    ]),
  );
}

async function record(texts: Readonly<Record<string, string>>): Promise<void> {
  const parts = Object.entries(texts).map(([path, text]) => `${ruler} ${path}\n${text}\n`);
  await writeFile(recording, parts.join(''));
}

describe('A project with kinds of each style, two versions, all webhooks and a chart', () => {
  const file = scratchDirectory();

  // Set RECORD_PROJECT=true to record the files again, and review the difference.
  it('has the same files as in the recording', async () => {
    const folder = file('shops');
    const results = [
      ...(await makeProject(folder, ['Shop'], ['Depot', 'v1', '--no-namespaced'])),
      await createApi(folder, 'Yard', 'v1', '--style', 'lifecycle', '--no-namespaced'),
      await createApi(folder, 'Store', 'v1', '--style', 'resources'),
      await createApi(folder, 'Shop', 'v1beta1'),
      await createWebhook(folder, 'Shop', 'v1alpha1', '--defaulting', '--validation'),
      await createWebhook(folder, 'Shop', 'v1beta1', '--conversion'),
    ];
    const overlay = file('shops/config/default/kustomization.yaml');
    const optional = /^( *)# (- \.\.\/(?:prometheus|network-policy|plan))$/gm;
    const text = await readFile(overlay, 'utf8');
    await writeFile(overlay, text.replaceAll(optional, '$1$2'));
    results.push(await cli(['helm', '--project', folder]));
    expect(results.map(({ stderr }) => stderr).join('')).to.equal('');
    const all = Object.entries(await textsIn(folder)).filter(([path]) => recorded.test(path));
    const texts = Object.fromEntries(all);
    if (process.env['RECORD_PROJECT'] === 'true') await record(texts);
    const wanted = await recordedTexts();
    expect(Object.keys(texts)).to.deep.equal(Object.keys(wanted));
    for (const [path, made] of all) expect(made, path).to.equal(wanted[path]);
  });
});
