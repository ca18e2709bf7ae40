import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ParseableTenant } from '../../../samples/parseable/tenant.js';
import { eventually } from '../../cluster/control-plane/eventually.js';
import { findFreePorts } from '../../cluster/control-plane/free-ports.js';
import { Script } from './suite/script.js';
import { sampleTenant } from './suite/stage.js';

const wrongUses: readonly [string, string[], RegExp][] = [
  ['a missing kubeconfig', ['--kubeconfig', 'nowhere/kubeconfig'], /nowhere\/kubeconfig/],
  ['an unknown level', ['--log-level', 'maybe'], /want debug, info, warn, error/],
  ['an unknown option', ['--frobnicate'], /--frobnicate/],
];

describe('the Parseable sample as a process', function () {
  this.timeout(60_000);

  it('runs its demo without a cluster, in plain lines, and ends with a summary', async () => {
    const args = ['--import', 'tsx', 'samples/parseable/demo.ts'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).to.match(/9 objects created/);
    expect(stdout).to.match(/4 pods rolled {2}ingestor: 2, querier: 2/);
    expect(stdout).to.match(/because of ConfigMap parseable-demo\/ingestor-back changed/);
    expect(stdout).to.match(/3 objects pruned {2}.*Deployment stateless-console/);
    expect(stdout).to.match(/Normal {2}Created {2}Created 9 objects: /);
    expect(stdout).to.match(
      /Normal {2}Configured {2}.*staged-ingestor: spec\.replicas .*kubectl-edit/,
    );
    expect(stdout).to.match(/Normal {2}Deleted {2}Deleted 3 objects: /);
    expect(stdout).to.match(/4 events written/);
    expect(stdout).not.to.include('\u001b');
  });

  it('runs as in a deployment: installs its CRD, logs JSON lines, exits with 0 on SIGTERM', async () => {
    const cluster = await EmbeddedCluster.start({ simulateWorkloads: true, port: 0 });
    const folder = await mkdtemp(join(tmpdir(), 'parseable-'));
    try {
      const kubeConfig = join(folder, 'kubeconfig');
      await cluster.writeKubeConfig(kubeConfig);
      const operator = new Script('parseable/main.ts', ['--kubeconfig', kubeConfig]);
      const client = cluster.client();
      const tenant = await sampleTenant('ephemeral');
      const metadata = { name: 'logs', namespace: 'default' };
      await eventually(() => client.create({ ...tenant, metadata }));
      for await (const event of client.watch(ParseableTenant, { namespace: 'default' })) {
        if (event.type !== 'BOOKMARK' && event.object.status?.ready === '1/1') break;
      }
      expect(await operator.ends('SIGTERM')).to.equal(0);
      const lines = operator.output.trim().split('\n');
      const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(messages).to.include('SIGTERM: stops');
    } finally {
      await cluster.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('waits for an unreachable API server: answers probes, and exits with 0 on SIGTERM', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parseable-'));
    const [port = 0, health = 0] = await findFreePorts(2);
    const cluster = await EmbeddedCluster.start({ port });
    const kubeConfig = join(folder, 'kubeconfig');
    await cluster.writeKubeConfig(kubeConfig);
    await cluster.stop();
    const args = ['--kubeconfig', kubeConfig];
    const patient = new Script('parseable/main.ts', [...args, `--health-port=${health}`]);
    const stopped = new Script('parseable/main.ts', args);
    let restarted: EmbeddedCluster | undefined;
    try {
      await Promise.all([patient, stopped].map((each) => each.writes('tried again in')));
      expect(await stopped.ends('SIGTERM'), stopped.output).to.equal(0);
      expect(stopped.output).to.match(/"SIGTERM: stops"/);
      const probe = `http://127.0.0.1:${health}`;
      expect((await fetch(`${probe}/healthz`)).status).to.equal(200);
      expect((await fetch(`${probe}/readyz`)).status).to.equal(500);
      restarted = await EmbeddedCluster.start({ port });
      await eventually(async () => {
        expect((await fetch(`${probe}/readyz`)).status).to.equal(200);
      });
      expect(await patient.ends('SIGTERM'), patient.output).to.equal(0);
    } finally {
      for (const each of [patient, stopped]) await each.ends('SIGTERM');
      await restarted?.stop();
      await rm(folder, { recursive: true });
    }
  });

  it("starts with its manifest's command on a read-only file system", async () => {
    const { command, env } = await deployedContainer();
    const own = env.map(({ name, value = 'parseable-system' }) => [name, value] as const);
    const { PATH = '' } = process.env;
    const surroundings = { PATH, TMPDIR: '/dev/null/tmp', ...Object.fromEntries(own) };
    const [program = '', ...args] = command;
    expect(program).to.equal('node');
    const started = promisify(execFile)(process.execPath, [...args, '--help'], {
      env: surroundings,
    });
    expect((await started).stdout).to.match(/^Usage: /);
  });

  for (const [title, args, message] of wrongUses) {
    it(`reports ${title}, and exits with 1`, async () => {
      const operator = new Script('parseable/main.ts', args);
      expect(await operator.ends()).to.equal(1);
      expect(operator.output).to.match(message);
      expect(operator.output.trim().split('\n').length).to.be.at.most(3);
    });
  }
});

interface Container {
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

/** Returns the operator's container of `deploy/operator.yaml`. */
async function deployedContainer(): Promise<Container> {
  const text = await readFile('samples/parseable/deploy/operator.yaml', 'utf8');
  const all = parseAllDocuments(text).map((document) => document.toJS() as { kind: string });
  const deployment = all.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: Container[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  if (container === undefined) throw new Error('the Deployment has no container');
  return container;
}
