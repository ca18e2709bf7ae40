import { expect } from 'chai';
import { check } from 'prettier';
import { sampleOf } from '../../sample.js';
import { cli, scratchDirectory } from '../cli.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

const options = { singleQuote: true, printWidth: 100 };
const ignored = /^(?:PROJECT$|config\/)|(?:ignore|Dockerfile)$/;

describe('Generated files', () => {
  const file = scratchDirectory();

  it('have the format of npm run format, for short and long names', async () => {
    const folder = file('formatted');
    const kinds = [
      ['Pot', 'builder'],
      ['HTTPRoute', 'lifecycle'],
      ['Website', 'resources'],
      ['CertificateRequest', 'builder'],
    ] as const;
    await makeProject(folder);
    const flags = ['--defaulting', '--validation'];
    for (const [kind, style] of sampleOf(kinds, 1)) {
      await createApi(folder, kind, 'v1', '--style', style);
      await createApi(folder, kind, 'v2beta1');
      await createWebhook(folder, kind, 'v1', ...flags, '--conversion');
      await createWebhook(folder, kind, 'v2beta1', ...flags);
    }
    const pod = ['--group', 'core', '--version', 'v1', '--kind', 'Pod', '-C', folder];
    await cli(['create', 'api', ...pod, '--no-resource']);
    await cli(['create', 'webhook', ...pod, ...flags]);
    const unformatted: string[] = [];
    for (const [path, text] of Object.entries(await textsIn(folder))) {
      if (ignored.test(path)) continue;
      if (!(await check(text, { ...options, filepath: path }))) unformatted.push(path);
    }
    expect(unformatted).to.deep.equal([]);
  });
});
