import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiConnection } from './api-connection.js';
import type { AuditLog } from './audit-log.js';
import type { ClusterUser, ControlPlane, ControlPlaneProcesses } from './control-plane.js';
import { newToken } from './credentials.js';
import { writeKubeConfig } from './kube-config.js';
import { waitForReady } from './readiness.js';
import type { Program } from './programs.js';
import type { Supervisor } from './supervisor.js';

/** Parts of a control plane that this process started. */
export interface ControlPlaneParts {
  readonly url: string;
  readonly caData: string;
  readonly token: string;
  readonly kubeConfigPath: string;
  readonly api: ApiConnection;
  readonly auditLog: AuditLog;
  readonly supervisor: Supervisor;
  readonly folder: string;
  readonly etcdUrl: string;
}

/** Control plane whose processes this process started. */
export class StartedControlPlane implements ControlPlane {
  readonly url: string;
  readonly caData: string;
  readonly token: string;
  readonly kubeConfigPath: string;
  readonly api: ApiConnection;
  readonly auditLog: AuditLog;
  readonly processes: ControlPlaneProcesses;
  readonly #supervisor: Supervisor;
  readonly #folder: string;
  #users = 0;

  constructor(parts: ControlPlaneParts) {
    this.url = parts.url;
    this.caData = parts.caData;
    this.token = parts.token;
    this.kubeConfigPath = parts.kubeConfigPath;
    this.api = parts.api;
    this.auditLog = parts.auditLog;
    this.#supervisor = parts.supervisor;
    this.#folder = parts.folder;
    this.processes = processesOf(parts);
  }

  async user(name: string, groups: readonly string[] = ['system:masters']): Promise<ClusterUser> {
    const token = newToken();
    const kubeConfigPath = join(this.#folder, `user-${++this.#users}.kubeconfig`);
    const { url, caData } = this;
    await Promise.all([
      this.#supervisor.addUser(token, name, groups),
      writeKubeConfig(kubeConfigPath, { url, caData, userName: name, token }),
    ]);
    return { name, groups, token, kubeConfigPath };
  }

  async stop(): Promise<void> {
    this.api.close();
    await this.#supervisor.stop();
  }
}

function processesOf(parts: ControlPlaneParts): ControlPlaneProcesses {
  const { supervisor, api, auditLog, etcdUrl } = parts;
  const kill = async (program: Program): Promise<void> => {
    if (program === 'kube-apiserver') await auditLog.mark();
    await supervisor.signal(program, 'SIGKILL');
    while (!supervisor.hasExited(program)) await delay(5);
  };
  const start = async (program: Program): Promise<void> => {
    await supervisor.startAgain(program);
    await waitForReady(api, supervisor);
  };
  return {
    pids: supervisor.pids,
    supervisorPid: supervisor.pid,
    etcdUrl,
    signal: (program, signal) => supervisor.signal(program, signal),
    kill,
    start,
    async compact() {
      await kill('kube-apiserver');
      await compactEtcd(etcdUrl);
      await start('kube-apiserver');
    },
  };
}

/** Compacts etcd at its present revision, by the JSON form of its API. */
async function compactEtcd(url: string): Promise<void> {
  const { header } = (await posted(`${url}/v3/kv/range`, { key: 'AA==' })) as EtcdAnswer;
  await posted(`${url}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

interface EtcdAnswer {
  readonly header: { readonly revision: string };
}

async function posted(url: string, body: object): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
