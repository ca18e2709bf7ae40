import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Pod } from '../../lib/object/index.js';
import { Kubectl } from './kubectl.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = ['node', '--import', import.meta.resolve('tsx'), `${root}lib/cli/main.ts`];

describe('the test server for other languages', function () {
  // The first run compiles client-go.
  this.timeout(900_000);

  it('passes the tests of the Python sample', async () => {
    const { code, output } = await run('apiserver-python', ['python3', '-m', 'unittest']);
    expect(output).to.match(/Ran 4 tests in .*OK/s);
    expect(code).to.equal(0);
  });

  it('passes the tests of the Go sample, by client-go', async () => {
    const { code, output } = await run('apiserver-go', ['go', 'test', '-count=1', '-v', './...']);
    expect(output).to.match(/PASS: TestServer/);
    expect(code).to.equal(0);
  });

  it('answers kubectl exec as rules added to cluster.pods say', async () => {
    const cluster = await EmbeddedCluster.start({ port: 0, simulateWorkloads: true });
    const kubectl = await Kubectl.create((path) => cluster.writeKubeConfig(path));
    try {
      const containers = [{ name: 'main', image: 'db:1' }];
      const metadata = { name: 'db', namespace: 'default' };
      await cluster
        .client()
        .create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
      await cluster.settled();
      cluster.pods.add({
        exec: [
          { command: ['psql'], stdout: 'DROP TABLE\n', readsInput: true },
          { command: ['pg_isready'], stderr: 'no response\n', exitCode: 2 },
        ],
      });
      const exec = (words: string, input?: string) =>
        kubectl.run(['exec', '-i', 'db', '--', ...words.split(' ')], input);
      const sql = 'drop table shops;';
      expect(await exec('psql -q', sql)).to.deep.equal({
        code: 0,
        stdout: 'DROP TABLE\n',
        stderr: '',
      });
      const failed = await exec('pg_isready');
      expect(failed).to.deep.include({ code: 2, stdout: '' });
      expect(failed.stderr).to.match(/^no response\n/);
      const ran = cluster.pods.commands.map(({ command, input }) => [command.join(' '), input]);
      expect(ran).to.deep.equal([
        ['psql -q', sql],
        ['pg_isready', undefined],
      ]);
    } finally {
      await kubectl.close();
      await cluster.stop();
    }
  });
});

async function run(
  sample: string,
  [command = '', ...args]: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(command, args, {
    cwd: `${root}samples/${sample}`,
    env: {
      ...process.env,
      ...{ CGO_ENABLED: '0', GOWORK: 'off', PYTHONDONTWRITEBYTECODE: '1' },
      OPERATOR_BUILDER: program.join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: out + err };
}
