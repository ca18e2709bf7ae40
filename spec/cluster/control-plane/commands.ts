import { join } from 'node:path';
import type { ControlPlaneFiles } from './binaries.js';
import type { ResolvedControlPlaneOptions } from './options.js';
import type { Program } from './programs.js';
import type { Command } from './supervisor.js';

/**
 * A stage in place of kwok's own, which may apply the state of a deleted claim to a new claim of the same name.
 */
const claimProvisionStage = join(import.meta.dirname, 'kwok', 'claim-provision.yaml');

/** Ports of a control plane. */
export interface ControlPlanePorts {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  readonly tokenReview: number;
}

/** Parameters of the command lines. */
export interface Launch {
  readonly files: ControlPlaneFiles;
  readonly folder: string;
  readonly ports: ControlPlanePorts;
  readonly options: ResolvedControlPlaneOptions;
}

/** Names of the files in the control plane's folder. */
export const fileNames = {
  tokens: 'tokens.csv',
  auditPolicy: 'audit-policy.yaml',
  auditLog: 'audit.log',
  tokenReview: 'token-review.kubeconfig',
  serviceAccountPublic: 'service-account.pub',
  serviceAccountPrivate: 'service-account.key',
  certificates: 'certificates',
  adminKubeConfig: 'admin.kubeconfig',
} as const;

/** Returns a program's kubeconfig in the control plane's folder. */
export function programKubeConfig(program: Program): string {
  return `${program}.kubeconfig`;
}

/** Returns the command lines of all programs. */
export function resolveCommands(launch: Launch): Readonly<Record<Program, Command>> {
  const command = (program: Program, args: readonly string[]): Command => ({
    command: launch.files.programs[program],
    args,
  });
  return {
    etcd: command('etcd', etcdArgs(launch)),
    'kube-apiserver': command('kube-apiserver', [
      ...apiServerArgs(launch),
      ...authenticationArgs(launch),
      ...auditArgs(launch),
      ...limitArgs(launch.options),
      ...launch.options.apiServerArgs,
    ]),
    'kube-controller-manager': command('kube-controller-manager', controllerManagerArgs(launch)),
    'kube-scheduler': command('kube-scheduler', componentArgs('kube-scheduler', launch)),
    kwok: command('kwok', kwokArgs(launch)),
  };
}

function etcdArgs({ folder, ports }: Launch): string[] {
  const client = `http://127.0.0.1:${ports.etcdClient}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // The data need not survive a crash of the machine.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

function apiServerArgs({ folder, ports }: Launch): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcdClient}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${ports.apiServer}`,
    `--cert-dir=${join(folder, fileNames.certificates)}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    // This plugin would reject Pods until the controller manager has created their ServiceAccount.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

function authenticationArgs({ folder }: Launch): string[] {
  return [
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, fileNames.serviceAccountPublic)}`,
    `--service-account-signing-key-file=${join(folder, fileNames.serviceAccountPrivate)}`,
    `--token-auth-file=${join(folder, fileNames.tokens)}`,
    `--authentication-token-webhook-config-file=${join(folder, fileNames.tokenReview)}`,
    '--authentication-token-webhook-version=v1',
    '--authentication-token-webhook-cache-ttl=24h',
    '--authorization-mode=RBAC',
  ];
}

function auditArgs({ folder }: Launch): string[] {
  return [
    `--audit-policy-file=${join(folder, fileNames.auditPolicy)}`,
    `--audit-log-path=${join(folder, fileNames.auditLog)}`,
    // Asynchronous, but in order and without delay; lines are lost only when the buffer overflows.
    '--audit-log-mode=batch',
    '--audit-log-batch-max-size=1',
    '--audit-log-batch-buffer-size=200000',
    // In megabytes. With the default of 100, the server would rotate the file while it is read.
    '--audit-log-maxsize=1000000',
  ];
}

function limitArgs({ unthrottled }: ResolvedControlPlaneOptions): string[] {
  if (!unthrottled) return [];
  return [
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=0',
    '--enable-priority-and-fairness=false',
  ];
}

function controllerManagerArgs(launch: Launch): string[] {
  const key = join(launch.folder, fileNames.serviceAccountPrivate);
  return [
    ...componentArgs('kube-controller-manager', launch),
    `--service-account-private-key-file=${key}`,
  ];
}

function componentArgs(program: Program, { folder }: Launch): string[] {
  const kubeConfig = join(folder, programKubeConfig(program));
  return [
    `--kubeconfig=${kubeConfig}`,
    `--authentication-kubeconfig=${kubeConfig}`,
    `--authorization-kubeconfig=${kubeConfig}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}

function kwokArgs({ files, folder }: Launch): string[] {
  return [
    `--kubeconfig=${join(folder, programKubeConfig('kwok'))}`,
    '--manage-all-nodes=true',
    `--config=${files.stages}`,
    `--config=${claimProvisionStage}`,
    '--node-lease-duration-seconds=40',
  ];
}
