import { expect } from 'chai';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { Lease } from '../../lib/object/kinds.js';
import { eventually } from '../../lib/testing/index.js';
import { withFolder } from '../client/temporary-folder.js';
import { grant } from '../manager/grant.js';
import type { Rule } from '../manager/grant.js';
import { SpecProcess } from '../manager/processes/spec-process.js';

describe('The program of an operator', () => {
  it('ends with exit code 1 although a reconcile that ignores its signal has a pending timer', async () => {
    const lines: string[] = [];
    const program = new SpecProcess('deaf', new URL('./deaf-program.ts', import.meta.url), {
      onLine: (line) => void lines.push(line),
    });
    try {
      await eventually(() => expect(lines, program.output).to.include('reconciles'));
      program.signal('SIGTERM');
      await eventually(() => expect(program.hasEnded, program.output).to.equal(true));
      expect(program.exitCode).to.equal(1);
      expect(program.output).to.include(
        'reconciles have not ended in time: configmap (default/held',
      );
    } finally {
      if (!program.hasEnded) await program.kill();
    }
  });

  it('ends with exit code 0 at a SIGTERM while it reviews its own permissions', async () => {
    const paths: string[] = [];
    const silent = createServer(({ url = '' }) => void paths.push(url)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await withReviewing(kubeConfigOf(`http://127.0.0.1:${port}`), async (program) => {
      try {
        // The first request looks up the kind of the reviews.
        await eventually(() => expect(paths, program.output).to.deep.equal(['/apis']));
        program.signal('SIGTERM');
        await eventually(() => expect(program.hasEnded, program.output).to.equal(true));
        expect(program.exitCode, program.output).to.equal(0);
        expect(program.output).to.include('SIGTERM: stops');
      } finally {
        silent.closeAllConnections();
        silent.close();
      }
    });
  });

  describe('in a cluster', () => {
    const verbs = ['*'];
    const configMaps = { apiGroups: [''], resources: ['configmaps'], verbs };
    const everything = { apiGroups: ['*'], resources: ['*'], verbs };
    let cluster: EmbeddedCluster;
    before(async () => {
      cluster = await EmbeddedCluster.start({ rbac: true, users: { o: 'operator' } });
      await cluster.listen();
    });
    after(() => cluster.stop());

    /** Runs the program with these rights until it serves its metrics. */
    async function running(
      rules: readonly Rule[],
      check: (lines: readonly LoggedLine[]) => Promise<void> | void,
    ): Promise<void> {
      await grant(cluster.client({ user: 'system:admin' }), rules);
      await withReviewing(cluster.kubeConfig('operator'), async (program) => {
        const lines = await eventually(() => {
          const texts = program.output.trim().split('\n');
          const read = texts.map((text) => JSON.parse(text) as LoggedLine);
          expect(read.map(({ msg }) => msg)).to.include('metrics-server listens');
          return read;
        });
        await check(lines);
      });
    }

    const reviews = (lines: readonly LoggedLine[]) =>
      lines.filter(({ msg }) => msg.endsWith(' is off: the role lacks rights'));
    const metricsUrl = (lines: readonly LoggedLine[]) =>
      lines.find(({ msg }) => msg === 'metrics-server listens')?.url;

    it('names the permissions that its role lacks for leader election and for authenticated metrics', () =>
      running([configMaps], (lines) => {
        const missing = reviews(lines).map(({ level, msg, missing: rights }) => [
          `${level} ${msg.split(' is ')[0]}`,
          rights,
        ]);
        const leases = 'leases.coordination.k8s.io';
        expect(Object.fromEntries(missing)).to.deep.equal({
          'warn leader election': [`create ${leases}`, `get ${leases}`, `update ${leases}`],
          'warn authenticated metrics': [
            'create tokenreviews.authentication.k8s.io',
            'create subjectaccessreviews.authorization.k8s.io',
            ...['get secrets', 'update secrets', 'create secrets'],
          ],
        });
        expect(metricsUrl(lines)).to.match(/^http:/);
      }));

    it('elects a leader and authenticates the readers of its metrics if its role permits this', () =>
      running([everything], async (lines) => {
        expect(reviews(lines)).to.deep.equal([]);
        expect(metricsUrl(lines)).to.match(/^https:/);
        const key = { namespace: 'default', name: 'reviewing' };
        const admin = cluster.client({ user: 'system:admin' });
        await eventually(() => admin.get(Lease, key));
      }));
  });
});

interface LoggedLine {
  readonly level: string;
  readonly msg: string;
  readonly url?: string;
  readonly missing?: readonly string[];
}

/** Runs the reviewing program as in a Pod, with this configuration of its client. */
async function withReviewing(
  kubeConfig: string,
  work: (program: SpecProcess) => Promise<void>,
): Promise<void> {
  await withFolder({}, async (folder) => {
    await mkdir(join(folder, '.kube'));
    await writeFile(join(folder, '.kube/config'), kubeConfig);
    const program = new SpecProcess(
      'reviewing',
      new URL('./reviewing-program.ts', import.meta.url),
      {
        env: {
          ...{ HOME: folder, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '127.0.0.1' },
          POD_NAMESPACE: 'default',
        },
        args: ['--health-port=0', '--metrics-port=0'],
      },
    );
    try {
      await work(program);
    } finally {
      if (!program.hasEnded) await program.kill();
    }
  });
}

function kubeConfigOf(server: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'it' },
    clusters: [{ name: 'it', cluster: { server } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    users: [{ name: 'it', user: {} }],
  });
}
