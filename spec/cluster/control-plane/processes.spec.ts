import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeadProcess } from './dead-process.js';
import { eventually } from './eventually.js';
import { programs } from './programs.js';
import { startControlPlane } from './index.js';

const isRunning = (pid: number) => !isDeadProcess(pid);

/** Runs the developers' command until it reports that the control plane is up. */
async function runMain() {
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pids: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const pid = /^process \S+ (\d+)$/.exec(line)?.[1];
    if (pid !== undefined) pids.push(Number(pid));
    const kubeConfig = /^export KUBECONFIG=(.+)$/.exec(line)?.[1];
    if (kubeConfig !== undefined) return { child, pids, folder: dirname(kubeConfig) };
  }
  throw new Error('main.ts ended before the control plane was up');
}

describe('the processes of a control plane', () => {
  it('end on stop(), which also removes their folder', async () => {
    const { processes, kubeConfigPath, stop } = await startOne();
    const pids = [...processes.pids.values(), processes.supervisorPid!];
    expect(pids.filter(isRunning)).to.have.length(programs.length + 1);
    await stop();
    expect(pids.filter(isRunning)).to.deep.equal([]);
    expect(existsSync(dirname(kubeConfigPath))).to.be.false;
  });

  it('continue after a crash of the API server, with the same data and users', async () => {
    const { api, auditLog, processes, user, stop } = await startOne();
    try {
      const { token } = await user('frank');
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } };
      const path = '/api/v1/namespaces/default/configmaps';
      await api.json({ method: 'POST', path, body, token });
      const before = processes.pids.get('kube-apiserver');
      await processes.kill('kube-apiserver');
      expect(await api.send({ path }).catch(String)).to.match(
        /^Error: (connect ECONNREFUSED|socket hang up|read ECONNRESET)/,
      );
      await processes.start('kube-apiserver');
      expect(processes.pids.get('kube-apiserver')).to.not.equal(before);
      await api.json({ path: `${path}/kept`, token });
      expect(await auditLog.count({ user: 'frank' })).to.equal(2);
    } finally {
      await stop();
    }
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`end with their parent, even by ${signal}`, async () => {
      const { child, pids, folder } = await runMain();
      expect(pids.filter(isRunning)).to.have.length(programs.length + 1);
      child.kill(signal);
      await once(child, 'exit');
      await eventually(async () => {
        expect(pids.filter(isRunning)).to.deep.equal([]);
        expect(existsSync(folder)).to.be.false;
      });
    });
  }

  async function startOne() {
    const started = await startControlPlane();
    return {
      ...{ api: started.api, auditLog: started.auditLog, processes: started.processes },
      kubeConfigPath: started.kubeConfigPath,
      user: (name: string) => started.user(name),
      stop: () => started.stop(),
    };
  }
});
