import { delimiter, join, resolve } from 'node:path';
import { expect } from 'chai';
import { readKubeConfig } from '../../lib/client/kube-config-file.js';
import { failureOf } from './scripted-transport.js';
import { withFolder } from './temporary-folder.js';

const file = (name: string, more = ''): string => `
current-context: ${name}
contexts:
- {name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ${name}}}
clusters:
- {name: ${name}, cluster: {server: 'https://${name}.example.com', certificate-authority: ca.pem}}
users:
- {name: ${name}, user: {client-certificate: client.pem, client-key: /keys/client.key, tokenFile: t}}
${more}`;

describe('readKubeConfig', () => {
  it('resolves the current context, with paths relative to the file', () =>
    withFolder({ config: file('one') }, async (folder) => {
      const context = await readKubeConfig({ path: join(folder, 'config') });
      expect(context).to.include({ name: 'one', namespace: 'one' });
      expect(context.cluster).to.deep.equal({
        ...{ server: 'https://one.example.com', 'certificate-authority': join(folder, 'ca.pem') },
      });
      expect(context.user).to.deep.equal({
        'client-certificate': join(folder, 'client.pem'),
        'client-key': '/keys/client.key',
        tokenFile: join(folder, 't'),
      });
    }));

  it('merges the files of KUBECONFIG: the first entry wins, missing and empty files are skipped', () =>
    withFolder(
      { a: file('one'), b: file('two') + file('one').replaceAll('\n', '\n# '), empty: '\n' },
      async (folder) => {
        const files = ['empty', 'a', 'none', 'b'].map((name) => join(folder, name));
        const env = { KUBECONFIG: files.join(delimiter) };
        expect(await readKubeConfig({ env })).to.include({ name: 'one' });
        expect(await readKubeConfig({ env, context: 'two' })).to.have.nested.property(
          'cluster.server',
          'https://two.example.com',
        );
      },
    ));

  it('refuses an entry of KUBECONFIG that exists but cannot be read', () =>
    withFolder({ a: file('one') }, async (folder) => {
      const env = { KUBECONFIG: [folder, join(folder, 'a')].join(delimiter) };
      const error = (await readKubeConfig({ env }).catch((thrown: unknown) => thrown)) as Error;
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.include(`kubeconfig ${folder}: EISDIR`);
    }));

  it('resolves an exec command with a slash relative to the current folder if no file is given, and keeps a command without a slash', () =>
    withFolder({}, async () => {
      const exec = (command: string) =>
        file('one', `- {name: x, user: {exec: {command: ${command}}}}`).replace(
          'user: one',
          'user: x',
        );
      const bare = await readKubeConfig({ text: exec('aws') });
      expect(bare.user.exec?.command).to.equal('aws');
      const text = await readKubeConfig({ text: exec('./bin/login') });
      expect(text.user.exec?.command).to.equal(resolve('bin/login'));
    }));

  it('resolves the exec command ./login relative to the folder of the kubeconfig', () => {
    const exec = "exec: {command: './login'}";
    return withFolder({ config: file('one').replace('tokenFile: t', exec) }, async (folder) => {
      const former = process.cwd();
      process.chdir(folder);
      try {
        const { user } = await readKubeConfig({ path: 'config' });
        expect(user.exec?.command).to.equal(resolve('login'));
        expect(user['client-certificate']).to.equal(resolve('client.pem'));
      } finally {
        process.chdir(former);
      }
    });
  });

  it('rejects text that nests too deeply', async () => {
    const error = await failureOf(readKubeConfig({ text: '['.repeat(5_000) }));
    expect(error).to.include({ code: 'TooDeep' });
  });

  it('uses the first of two entries of the same name', async () => {
    const text = file('one').replace(
      'users:',
      "- {name: one, cluster: {server: 'https://b'}}\nusers:",
    );
    const { cluster } = await readKubeConfig({ text });
    expect(cluster.server).to.equal('https://one.example.com');
  });

  it('accepts a context without a user', async () => {
    const text = file('one').replace(' user: one,', '');
    expect((await readKubeConfig({ text })).user).to.deep.equal({});
  });

  it('accepts JSON', async () => {
    const text = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://a' } }],
    });
    expect(await readKubeConfig({ text })).to.have.nested.property('cluster.server', 'https://a');
  });

  const broken: readonly (readonly [string, string, string, string?])[] = [
    ['invalid YAML', 'a: "secret', 'line 1 is not YAML'],
    ['a text that is not a map', 'hello', 'it is not a kubeconfig'],
    ['an empty text', '', 'it is not a kubeconfig'],
    ['a missing current context', 'clusters: []', 'current-context is missing'],
    ['an unknown context', file('one'), 'contexts has no "two" (there are: one)', 'two'],
    [
      'an unknown cluster',
      file('one').replace('cluster: one', 'cluster: x'),
      'clusters has no "x"',
    ],
    ['an unknown user', file('one').replace('user: one', 'user: x'), 'users has no "x"'],
    [
      'a cluster without a server',
      file('one').replace(/server: '[^']*',/, ''),
      'cluster "one" has no server',
    ],
    ['a map in place of a list', 'contexts: {}', 'contexts is not a list'],
    ['an entry without a name', 'contexts: [{}]', 'contexts[0].name is missing'],
    [
      'a user that is not a map',
      'users: [{name: a, user: hello}]',
      'users[0].user is not a mapping',
    ],
    ['null entries', 'contexts: [null]', 'contexts[0].name is missing'],
  ];
  for (const [title, text, expected, context] of broken) {
    it(`reports the problem with: ${title}`, async () => {
      const error = await failureOf(readKubeConfig({ text, context }));
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.contain(expected);
      expect(error.message).not.to.contain('secret');
    });
  }

  it('names a file that it cannot read', () =>
    withFolder({}, async (folder) => {
      const path = join(folder, 'none');
      for (const source of [{ path }, { env: { KUBECONFIG: path } }, { path: [path, path] }]) {
        const error = await failureOf(readKubeConfig(source));
        expect(error).to.have.property('code', 'InvalidKubeConfig');
        expect(error.message).to.contain(path);
      }
    }));

  it('accepts names such as __proto__ for clusters, users and contexts', async () => {
    const text =
      'current-context: __proto__\n__proto__: {clusters: []}\ncontexts: [{name: __proto__}]';
    const error = await failureOf(readKubeConfig({ text }));
    expect(error.message).to.contain('clusters has no ""');
  });
});
