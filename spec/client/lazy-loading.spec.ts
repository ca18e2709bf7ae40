import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { promisify } from 'node:util';

const run = promisify(execFile);
const client = new URL('../../lib/client/index.ts', import.meta.url).href;
const transport = new URL('../../lib/system/undici-transport.ts', import.meta.url).href;

/** Runs JavaScript in a new process in which these packages cannot be loaded. */
async function without(packages: readonly string[], script: string): Promise<string> {
  const hook = `export async function resolve(specifier, context, next) {
    if (${JSON.stringify(packages)}.includes(specifier)) throw new Error('loaded ' + specifier);
    return next(specifier, context);
  }`;
  const url = `data:text/javascript,${encodeURIComponent(hook)}`;
  const text = `
    import { register } from 'node:module';
    register(${JSON.stringify(url)});
    ${script}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', text];
  return (await run(process.execPath, args)).stdout.trim();
}

describe('loading the client', () => {
  it('loads neither undici nor client-node nor yaml', async () => {
    const script = `console.log(typeof (await import(${JSON.stringify(client)})).createClient)`;
    expect(await without(['undici', 'yaml', '@kubernetes/client-node'], script)).to.equal(
      'function',
    );
  });

  it('loads undici at the first request', async () => {
    const script = `
      const { UndiciTransport } = await import(${JSON.stringify(transport)});
      const transport = new UndiciTransport({ server: 'http://127.0.0.1:1' });
      const request = { method: 'GET', path: '/', headers: {} };
      await transport.request(request).catch((error) => console.log(error.message));`;
    expect(await without(['undici'], script)).to.contain('loaded undici');
  });

  it('loads no client-node for a kubeconfig with a token', async () => {
    const text = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://a' } }],
      users: [{ name: 'a', user: { token: 'abc' } }],
    });
    const script = `
      const { clientFromKubeConfig } = await import(${JSON.stringify(client)});
      const text = ${JSON.stringify(text)};
      console.log((await clientFromKubeConfig({ text })).defaultNamespace);`;
    expect(await without(['@kubernetes/client-node'], script)).to.equal('default');
  });
});
