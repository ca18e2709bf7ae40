import { parseArgs } from 'node:util';
import { dns1123LabelProblem } from 'operator-builder';
import type { ImmutablePolicy } from 'operator-builder';

/** What `npm run parseable -- --help` says. */
export const usage = `Usage: npm run parseable -- [options]

  --kubeconfig FILE       the cluster to work on (default: KUBECONFIG, ~/.kube/config, or in-cluster)
  --namespace NAME        only tenants of this namespace (default: all)
  --on-immutable POLICY   fail, recreate or recreateOrphan (default: fail); recreate takes over what
                          the original operator made, whose selectors differ
  --max-deletions N       how many objects of a tenant may be pruned at once: a number, or a share
                          such as 100% (default: half of them, at least 5)
  --log-level LEVEL       debug, info, warn or error (default: info)

  --health-port PORT      serve /healthz and /readyz (default: not)
  --metrics-port PORT     serve /metrics (default: not)
  --leader-elect          be one of several replicas: they compete for a Lease
  --webhook-port PORT     serve the validating webhook (default: not)
  --operator-namespace NAME
                          where the Lease and the webhook's Secret and Service are (default: the
                          variable POD_NAMESPACE)
  --help                  show this`;

const levels = ['debug', 'info', 'warn', 'error'] as const;
const policies: readonly ImmutablePolicy[] = ['fail', 'recreate', 'recreateOrphan'];

/** What the command line asks for; undefined: its default, or not at all. */
export interface CommandLine {
  readonly help: boolean;
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly onImmutable: ImmutablePolicy;
  readonly maxDeletions: number | `${number}%` | undefined;
  readonly logLevel: (typeof levels)[number];
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
  readonly webhookPort: number | undefined;
  readonly leaderElect: boolean;
  /** Empty where neither an option nor the environment names it. */
  readonly operatorNamespace: string;
}

/** @throws TypeError an unknown option, or a value that is none of it. */
export function readCommandLine(args: string[], env: NodeJS.ProcessEnv): CommandLine {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ kubeconfig: text, namespace: text, 'max-deletions': text, help: flag },
      'on-immutable': { type: 'string', default: 'fail' },
      'log-level': { type: 'string', default: 'info' },
      ...{ 'health-port': text, 'metrics-port': text, 'webhook-port': text },
      ...{ 'leader-elect': flag, 'operator-namespace': text },
    },
  });
  const { kubeconfig, namespace, help, 'leader-elect': leaderElect } = values;
  const { 'operator-namespace': operatorNamespace = env['POD_NAMESPACE'] ?? '' } = values;
  checkNamespace('--namespace', namespace);
  if (operatorNamespace !== '') checkNamespace('--operator-namespace', operatorNamespace);
  const webhookPort = portOf('--webhook-port', values['webhook-port']);
  if ((leaderElect || webhookPort !== undefined) && operatorNamespace === '') {
    throw new TypeError('--operator-namespace: say where the Lease and the Secret are to be');
  }
  return {
    ...{ help, kubeconfig, namespace, leaderElect, operatorNamespace, webhookPort },
    onImmutable: oneOf(policies, values['on-immutable'], '--on-immutable'),
    maxDeletions: deletionsOf(values['max-deletions']),
    logLevel: oneOf(levels, values['log-level'], '--log-level'),
    healthPort: portOf('--health-port', values['health-port']),
    metricsPort: portOf('--metrics-port', values['metrics-port']),
  };
}

function oneOf<T extends string>(allowed: readonly T[], given: string, option: string): T {
  const found = allowed.find((each) => each === given);
  if (found === undefined)
    throw new TypeError(`${option}: want ${allowed.join(', ')}, got ${given}`);
  return found;
}

function checkNamespace(option: string, namespace: string | undefined): void {
  const problem = namespace === undefined ? undefined : dns1123LabelProblem(namespace);
  if (problem !== undefined) throw new TypeError(`${option}: ${problem}`);
}

function deletionsOf(text: string | undefined): number | `${number}%` | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  if (/^\d{1,3}%$/.test(text)) return text as `${number}%`;
  throw new TypeError(`--max-deletions: want a number or a share such as 100%, got ${text}`);
}

function portOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TypeError(`${option}: want 0 to 65535, got ${text}`);
}
