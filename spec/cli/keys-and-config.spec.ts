import { expect } from 'chai';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { ViewServer, inNamespace } from '../declarative/api-server/view-server.js';
import { cli, scratchDirectory } from './cli.js';
import type { CliResult } from './cli.js';

interface KubeConfig {
  readonly clusters: readonly { readonly cluster: Record<string, string> }[];
  readonly contexts: readonly { readonly context: Record<string, string> }[];
  readonly users: readonly { readonly name: string; readonly user: { readonly token?: string } }[];
}

const clock = new VirtualClock(Date.parse('2026-01-02T03:04:05Z'));
const config = ['declarative', 'config'];

/** Returns the claims of a token. */
function claimsOf(token = ''): Record<string, unknown> {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}

/** Returns the id of the key that signed a token. */
function keyIdOf(token: string): unknown {
  const [header = ''] = token.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: unknown };
  return kid;
}

async function permissionsOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

async function readConfig(file: string): Promise<KubeConfig> {
  return parse(await readFile(file, 'utf8')) as KubeConfig;
}

describe('operator-builder declarative keys and config', () => {
  const file = scratchDirectory();
  const names = ['tls.crt', 'tls.key', 'token.pub', 'token.key'];
  let made: CliResult;

  /** Runs the command `config` with these keys. */
  function configured(name: string, ...args: readonly string[]): Promise<CliResult> {
    return cli([...config, '--keys', file('keys'), '-o', file(name), ...args], { clock });
  }

  before(async () => {
    made = await cli(['declarative', 'keys', '-d', file('keys'), '--host', 'views.example.com']);
  });

  it('create keys that only the owner of the files can read, and print the purpose of each key', async () => {
    expect(made).to.include({ code: 0, stderr: '' });
    for (const name of names) {
      expect(made.stdout).to.include(`${file('keys', name)}: `);
      expect(await permissionsOf(file('keys', name)), name).to.equal('600');
    }
  });

  it('do not replace existing keys without --force', async () => {
    const before = await readFile(file('keys', 'token.key'), 'utf8');
    const again = ['declarative', 'keys', '-d', file('keys'), '--output', 'json'];
    const { code, stderr, stdout } = await cli(again);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('exists already').and.include('force');
    expect(await readFile(file('keys', 'token.key'), 'utf8')).to.equal(before);
  });

  it('report a file in place of the keys directory, and write no files', async () => {
    const { code, stderr } = await cli(['declarative', 'keys', '-d', 'package.json']);
    expect(code).to.equal(1);
    expect(stderr).to.equal("error: package.json can't be written: the file already exists\n");
  });

  it('print the paths of keys as JSON', async () => {
    const args = ['declarative', 'keys', '-d', file('other'), '--output', 'json'];
    const { stdout } = await cli(args);
    expect(Object.values(JSON.parse(stdout) as object)).to.deep.equal(
      names.map((name) => file('other', name)),
    );
  });

  it('create a kubeconfig with user, namespaces, rules and expiry in its token', async () => {
    const args = ['--user', 'alice', '--namespaces', 'shop,bank', '--expires', '90m'];
    const { code, stdout, stderr } = await configured('alice', ...args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      `${file('alice')}: https://127.0.0.1:18443, for alice, until 2026-01-02T04:34:05.000Z\n`,
    );
    expect(await permissionsOf(file('alice'))).to.equal('600');
    const { clusters, contexts, users } = await readConfig(file('alice'));
    expect(clusters[0]?.cluster['server']).to.equal('https://127.0.0.1:18443');
    expect(clusters[0]?.cluster['certificate-authority-data']).to.be.a('string');
    expect(contexts[0]?.context['namespace']).to.equal('shop');
    expect(users[0]?.name).to.equal('alice');
    expect(claimsOf(users[0]?.user.token)).to.deep.equal({
      username: 'alice',
      aud: 'views.operator-builder.io',
      namespaces: ['shop', 'bank'],
      rules: [
        {
          verbs: ['get', 'list', 'watch'],
          ...{ apiGroups: ['*.view.dcontroller.io'], resources: ['*'] },
        },
      ],
      iat: Date.parse('2026-01-02T03:04:05Z') / 1000,
      exp: Date.parse('2026-01-02T04:34:05Z') / 1000,
    });
  });

  it('print the result as JSON, but write the token only into the file', async () => {
    const args = ['-u', 'ops', '-n', 'a', '-n', 'b', '--access', 'write', '--output', 'json'];
    const { stdout } = await configured('ops', ...args);
    expect(JSON.parse(stdout)).to.deep.equal({
      ...{ file: file('ops'), server: 'https://127.0.0.1:18443', user: 'ops' },
      ...{ namespaces: ['a', 'b'], expiresAt: '2026-01-03T03:04:05.000Z' },
    });
    const { users } = await readConfig(file('ops'));
    expect(claimsOf(users[0]?.user.token)['rules']).to.have.nested.property('[0].verbs[0]', '*');
  });

  it('read the rules of a Role, or a list of rules', async () => {
    const rules = [{ verbs: ['get'], apiGroups: ['a.view.dcontroller.io'], resources: ['*'] }];
    for (const [name, value] of [
      ['role', { kind: 'Role', rules }],
      ['list', rules],
    ] as const) {
      await writeFile(file(`${name}.yaml`), JSON.stringify(value));
      await configured(name, '-u', 'a', '-n', '*', '--rules', file(`${name}.yaml`));
      const { users, contexts } = await readConfig(file(name));
      expect(claimsOf(users[0]?.user.token)['rules']).to.deep.equal(rules);
      expect(contexts[0]?.context).to.not.have.property('namespace');
    }
  });

  it('create a kubeconfig without a token for a server over HTTP, which needs no keys', async () => {
    const args = ['--server', 'http://127.0.0.1:18443', '--keys', file('none'), '-o', file('http')];
    const { code, stdout } = await cli([...config, ...args]);
    expect(code).to.equal(0);
    expect(stdout).to.include('http://127.0.0.1:18443, for everybody');
    expect((await readConfig(file('http'))).users[0]?.user).to.deep.equal({});
  });

  it('rotate the token key, and accept tokens of the previous key until the next rotation', async () => {
    const directory = file('rotated');
    const keys = ['declarative', 'keys', '-d', directory];
    await cli(keys);
    const text = (name: string): Promise<string> => readFile(file('rotated', name), 'utf8');
    const tls = { certificate: await text('tls.crt'), privateKey: await text('tls.key') };
    const token = { publicKey: await text('token.pub'), privateKey: await text('token.key') };
    const tokenKeyFile = file('rotated', 'token.pub');
    const server = await ViewServer.start({ tls, token }, { tokenKeyFile });
    const newToken = async (name: string): Promise<string> => {
      const args = ['-u', 'alice', '-n', 'n', '--keys', directory, '-o', file(name)];
      await cli([...config, ...args], { clock: server.clock });
      return (await readConfig(file(name))).users[0]?.user.token ?? '';
    };
    const codeOf = async (shown: string) => (await server.ask(inNamespace, { token: shown })).code;
    const first = await newToken('first');
    expect(await codeOf(first)).to.equal(200);
    const rotated = await cli([...keys, '--rotate']);
    expect(rotated).to.include({ code: 0, stderr: '' });
    expect(await permissionsOf(file('rotated', 'token.key'))).to.equal('600');
    expect(await text('tls.key')).to.equal(tls.privateKey);
    const second = await newToken('second');
    expect(keyIdOf(second)).not.to.equal(keyIdOf(first));
    await server.clock.advance(1_000);
    expect([await codeOf(second), await codeOf(first)]).to.deep.equal([200, 200]);
    await cli([...keys, '--rotate']);
    await server.clock.advance(10_000);
    const third = await newToken('third');
    const codes = [await codeOf(third), await codeOf(second), await codeOf(first)];
    expect(codes).to.deep.equal([200, 200, 401]);
    await server.stop();
  });

  it('refuse to rotate a missing key, or to combine --rotate with other options', async () => {
    const rotate = ['declarative', 'keys', '--rotate', '-d', file('absent')];
    const { code, stderr } = await cli(rotate);
    expect(code).to.equal(1);
    expect(stderr).to.include('token.pub').and.include('create keys before you rotate them');
    for (const more of [['--force'], ['--host', 'a.example.com'], ['--days', '3']]) {
      const refused = await cli([...rotate, ...more]);
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.include('--rotate').and.include('cannot be used with');
    }
  });

  for (const [what, args, says] of [
    ['no user', ['-n', 'a'], '--user: missing; pass'],
    ['no namespace', ['-u', 'a'], '--namespaces: missing; pass'],
    ['an empty name', ['-u', 'a', '-n', 'a,,b'], 'Want names, separated by commas'],
    ['an invalid namespace', ['-u', 'a', '-n', 'A B'], 'The namespace "A B" must be'],
    ['an invalid duration', ['-u', 'a', '-n', 'a', '--expires', '1 day'], 'for example 90m'],
    ['a duration of zero', ['-u', 'a', '-n', 'a', '--expires', '0s'], 'Want a duration above 0'],
    [
      'a duration below one second',
      ['-u', 'a', '-n', 'a', '--expires', '1ms'],
      'token: want validForMs',
    ],
    [
      'an invalid server',
      ['-u', 'a', '-n', 'a', '--server', 'views'],
      'want an https:// or http:// URL',
    ],
    [
      'rules together with an access level',
      ['--rules', 'a', '--access', 'read'],
      'cannot be used with',
    ],
    ['invalid rules', ['-u', 'a', '-n', 'a', '--rules', 'package.json'], 'want a list of rules'],
    ['invalid YAML', ['-u', 'a', '-n', 'a', '--rules', 'README.md'], 'README.md: invalid YAML'],
    ['a missing file of rules', ['-u', 'a', '-n', 'a', '--rules', 'x'], "x can't be read"],
    ['an existing output file', ['-u', 'a', '-n', 'a', '-o', 'package.json'], 'exists already'],
    [
      'a missing directory',
      ['--server', 'http://127.0.0.1:1', '-o', 'no/x'],
      "no/x can't be written",
    ],
    ['missing keys', ['-u', 'a', '-n', 'a', '--keys', 'no'], "no/tls.crt can't be read"],
  ] as const) {
    it(`refuse ${what}, without writing a file`, async () => {
      const result = await configured('refused', ...args);
      expect(result).to.include({ code: 1, stdout: '' });
      expect(result.stderr).to.include(says);
      expect(await stat(file('refused')).catch(() => 'missing')).to.equal('missing');
    });
  }
});
