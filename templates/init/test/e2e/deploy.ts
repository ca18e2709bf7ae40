// Deploys the operator to a new kind cluster, tests it, and deletes the cluster: `npm run test:e2e`.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';

const cluster = 'operator-name-e2e';
const image = 'operator-name:e2e';
const namespace = 'operator-name-system';

const programs: readonly (readonly string[])[] = [
  ['kind', 'version'],
  ['docker', 'version'],
  ['kubectl', 'version', '--client'],
];
const missing = programs
  .filter(([program = '', ...args]) => spawnSync(program, args).status !== 0)
  .map(([program]) => program);
const skip = missing.length > 0 && `these programs cannot run here: ${missing.join(', ')}`;

function run(program: string, args: readonly string[], input = ''): string {
  return execFileSync(program, args, {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

const kubectl = (args: readonly string[], input = ''): string =>
  run('kubectl', ['--context', `kind-${cluster}`, ...args], input);

describe('The deployed operator', { skip }, () => {
  before(() => {
    run('kind', ['create', 'cluster', '--name', cluster, '--wait', '180s']);
    run('docker', ['build', '--tag', image, '.']);
    run('kind', ['load', 'docker-image', image, '--name', cluster]);
    const installer = ['build-installer', '--image', image, '--out', '-'];
    kubectl(['apply', '--server-side', '-f', '-'], run('npx', ['operator-builder', ...installer]));
  });

  after(() => {
    run('kind', ['delete', 'cluster', '--name', cluster]);
  });

  it('becomes ready', () => {
    const rollout = ['rollout', 'status', 'deployment/operator-name-controller-manager'];
    kubectl(['--namespace', namespace, ...rollout, '--timeout=180s']);
  });

  it('writes a status on every sample', () => {
    const samples = run('kubectl', ['kustomize', 'config/samples']);
    if (!samples.includes('kind:')) return;
    kubectl(['apply', '-f', '-'], samples);
    kubectl(['wait', '--for=jsonpath={.status}', '--timeout=180s', '-f', '-'], samples);
  });

  it('has all permissions that it needs', () => {
    const logs = kubectl([
      '--namespace',
      namespace,
      'logs',
      '--selector',
      'control-plane=controller-manager',
    ]);
    assert.doesNotMatch(logs, /forbidden|permissions are missing/i);
  });
});
