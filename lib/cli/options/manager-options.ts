import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ManagerOptions } from '../../manager/index.js';
import { dns1123LabelProblem, dns1123SubdomainProblem } from '../../object/names.js';
import { portOf } from './parsed-options.js';

/** Options of a process that runs operators. */
export interface ProcessOptions {
  readonly healthPort?: number | undefined;
  readonly metricsPort?: number | undefined;
  readonly leaderElection?: LeaseName | undefined;
}

interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** Adds `--health-port`, `--metrics-port` and `--leader-election`. */
export function addProcessOptions(command: Command): Command {
  return command
    .option('--health-port <port>', 'serve /healthz and /readyz (default: not)', portOf)
    .option('--metrics-port <port>', 'serve /metrics (default: not)', portOf)
    .addOption(
      new Option(
        '--leader-election <namespace/name>',
        'be one of several replicas, of which one works at a time: the Lease that they compete for',
      ).argParser(leaseNameOf),
    );
}

/** Returns the manager options for these process options. */
export function managerOptionsOf({
  healthPort,
  metricsPort,
  leaderElection,
}: ProcessOptions): Pick<ManagerOptions, 'health' | 'metrics' | 'leaderElection'> {
  return {
    health: healthPort === undefined ? false : { port: healthPort },
    metrics: metricsPort === undefined ? false : { port: metricsPort },
    leaderElection,
  };
}

function leaseNameOf(text: string): LeaseName {
  const [namespace = '', name = '', ...others] = text.split('/');
  const wellFormed =
    dns1123LabelProblem(namespace) === undefined && dns1123SubdomainProblem(name) === undefined;
  if (wellFormed && others.length === 0) return { namespace, name };
  throw new InvalidArgumentError('Want the namespace and the name of a Lease, as shop/operator.');
}
