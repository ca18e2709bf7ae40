// Runs the built program from a shell, and checks its output, its exit codes, and the exit on SIGTERM. Specs run the
// same commands within their own process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { eventually } from 'operator-builder/testing';

const { version, bin } = createRequire(import.meta.url)('operator-builder/package.json');
const program = join(import.meta.dirname, '..', bin['operator-builder']);
const operator = JSON.stringify({
  controllers: [
    {
      name: 'copy',
      sources: [
        { apiGroup: '', kind: 'ConfigMap', labelSelector: { matchLabels: { copied: 'yes' } } },
      ],
      pipeline: {
        '@project': { metadata: { name: 'copy', namespace: 'default' }, data: '$.data' },
      },
      target: { apiGroup: '', kind: 'ConfigMap' },
    },
  ],
});

function start(args, input = '') {
  const child = spawn(process.execPath, [program, ...args]);
  const result = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (result.stdout += text));
  child.stderr.on('data', (text) => (result.stderr += text));
  child.stdin.end(input);
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ ...result, code: code ?? signal }));
  });
  return { child, ended };
}

const run = (args, input) => start(args, input).ended;

assert.deepEqual(await run(['--version']), { stdout: `${version}\n`, stderr: '', code: 0 });
assert.match((await run(['graph', '-', '-f', 'svg'], operator)).stdout, /<svg [^]*copy/);
assert.equal((await run(['graph', '-'], 'controllers: 1')).code, 1);
assert.equal((await run(['grahp'])).code, 1);

const cluster = await EmbeddedCluster.start({ port: 0 });
const directory = await mkdtemp(join(tmpdir(), 'smoke-bin-'));
try {
  const kubeconfig = join(directory, 'kubeconfig');
  await cluster.writeKubeConfig(kubeconfig);
  const args = ['declarative', 'run', '-', '--kubeconfig', kubeconfig, '--api-server-port', '0'];
  const running = start(args, operator);
  const client = cluster.client();
  const metadata = { name: 'original', namespace: 'default', labels: { copied: 'yes' } };
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } });
  const key = { name: 'copy', namespace: 'default' };
  await eventually(async () => {
    assert.deepEqual((await client.get(ConfigMap, key)).data, { a: '1' });
  });
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  assert.equal(code, 0, stderr);
  const config = ['declarative', 'config', '--server', 'http://127.0.0.1:1', '-o'];
  assert.equal((await run([...config, join(directory, 'views')])).code, 0);
  assert.match(await readFile(join(directory, 'views'), 'utf8'), /http:\/\/127\.0\.0\.1:1/);
} finally {
  await cluster.stop();
  await rm(directory, { recursive: true });
}
console.log('the built program draws, runs, and ends well');
