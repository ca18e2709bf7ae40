import { parseArgs } from 'node:util';
import { dns1123LabelProblem } from 'operator-builder';
import { releaseOf, releases } from './release.js';

const newest = releases.at(-1)?.version ?? '';
const levels = ['debug', 'info', 'warn', 'error'] as const;

/** What `--help` says. */
export const usage = `Usage: node --import tsx samples/lifecycle/main.ts [options]

  --kubeconfig FILE     the cluster to work on (default: KUBECONFIG, ~/.kube/config, or in-cluster)
  --namespace NAME      where the operator is, and what it deploys (default: the variable POD_NAMESPACE)
  --release VERSION     which release of the operator to be (default: ${newest})
  --log-level LEVEL     debug, info, warn or error (default: info)

  --health-port PORT    serve /healthz and /readyz (default: not)
  --metrics-port PORT   serve /metrics (default: not)
  --leader-elect        be one of several replicas: they compete for a Lease
  --help                show this`;

/** What the command line asks for; undefined: its default, or not at all. */
export interface CommandLine {
  readonly help: boolean;
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  readonly release: string;
  readonly logLevel: (typeof levels)[number];
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
  readonly leaderElect: boolean;
}

/** @throws TypeError an unknown option, or a value that is none of it. */
export function readCommandLine(args: string[], env: NodeJS.ProcessEnv): CommandLine {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ kubeconfig: text, namespace: text, help: flag, 'leader-elect': flag },
      release: { type: 'string', default: newest },
      'log-level': { type: 'string', default: 'info' },
      ...{ 'health-port': text, 'metrics-port': text },
    },
  });
  const { kubeconfig, help, release, 'leader-elect': leaderElect } = values;
  const { namespace = env['POD_NAMESPACE'] ?? '' } = values;
  const problem = help ? undefined : dns1123LabelProblem(namespace);
  if (problem !== undefined) throw new TypeError(`--namespace: ${problem}`);
  return {
    ...{ help, kubeconfig, namespace, leaderElect },
    release: releaseOf(release).version,
    logLevel: levelOf(values['log-level']),
    healthPort: portOf('--health-port', values['health-port']),
    metricsPort: portOf('--metrics-port', values['metrics-port']),
  };
}

function levelOf(given: string): CommandLine['logLevel'] {
  const found = levels.find((level) => level === given);
  if (found !== undefined) return found;
  throw new TypeError(`--log-level: want ${levels.join(', ')}, got ${given}`);
}

function portOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TypeError(`${option}: want 0 to 65535, got ${text}`);
}
