import { parseArgs } from 'node:util';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** What `--help` says. */
export const usage = `Usage: operator-name [options]

  --kubeconfig FILE     the cluster to work on (default: KUBECONFIG, in-cluster, or ~/.kube/config)
  --namespace NAME      where the operator is: its Lease, its certificate, the Service in front of its
                        webhooks (default: the variable POD_NAMESPACE)
  --leader-elect        be one of several replicas: one of them works
  --health-port PORT    serve /healthz and /readyz (default: 8081)
  --metrics-port PORT   serve /metrics (default: 8080)
  --metrics-auth        serve them by HTTPS, to whom the API server knows and lets read /metrics
  --metrics-cert-dir DIR
                        where tls.crt and tls.key are (default: the operator makes its certificate)
  --no-metrics          serve no metrics
  --webhook-port PORT   serve the webhooks, if there are any (default: 9443)
  --webhook-cert-dir DIR
                        where tls.crt and tls.key are (default: the operator makes its certificate)
  --no-webhooks         serve no webhooks
  --log-level LEVEL     debug, info, warn or error (default: info)
  --help                show this`;

/** What the command line asks for. */
export interface CommandLine {
  readonly help: boolean;
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  readonly leaderElect: boolean;
  readonly healthPort: number;
  readonly metricsPort: number;
  readonly metricsAuth: boolean;
  readonly metricsCertDir: string | undefined;
  readonly noMetrics: boolean;
  readonly webhookPort: number;
  readonly webhookCertDir: string | undefined;
  readonly noWebhooks: boolean;
  readonly logLevel: (typeof levels)[number];
}

const options = {
  kubeconfig: { type: 'string' },
  namespace: { type: 'string' },
  'leader-elect': { type: 'boolean', default: false },
  'health-port': { type: 'string', default: '8081' },
  'metrics-port': { type: 'string', default: '8080' },
  'metrics-auth': { type: 'boolean', default: false },
  'metrics-cert-dir': { type: 'string' },
  'no-metrics': { type: 'boolean', default: false },
  'webhook-port': { type: 'string', default: '9443' },
  'webhook-cert-dir': { type: 'string' },
  'no-webhooks': { type: 'boolean', default: false },
  'log-level': { type: 'string', default: 'info' },
  help: { type: 'boolean', default: false },
} as const;

/** @throws TypeError an unknown option, or a value that is none of it. */
export function readCommandLine(args: string[], env: NodeJS.ProcessEnv): CommandLine {
  const { values } = parseArgs({ args, options });
  const { help, kubeconfig, 'leader-elect': leaderElect } = values;
  const { namespace = env['POD_NAMESPACE'] ?? '' } = values;
  if (leaderElect && namespace === '') {
    throw new TypeError('--leader-elect: say --namespace, or set the variable POD_NAMESPACE');
  }
  if (values['metrics-auth'] && namespace === '' && values['metrics-cert-dir'] === undefined) {
    throw new TypeError('--metrics-auth: say --namespace, or --metrics-cert-dir');
  }
  return {
    help,
    kubeconfig,
    namespace,
    leaderElect,
    healthPort: portOf('--health-port', values['health-port']),
    metricsPort: portOf('--metrics-port', values['metrics-port']),
    metricsAuth: values['metrics-auth'],
    metricsCertDir: values['metrics-cert-dir'],
    noMetrics: values['no-metrics'],
    webhookPort: portOf('--webhook-port', values['webhook-port']),
    webhookCertDir: values['webhook-cert-dir'],
    noWebhooks: values['no-webhooks'],
    logLevel: levelOf(values['log-level']),
  };
}

function portOf(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TypeError(`${option}: want 0 to 65535, got ${text}`);
}

function levelOf(text: string): CommandLine['logLevel'] {
  const found = levels.find((level) => level === text);
  if (found !== undefined) return found;
  throw new TypeError(`--log-level: want ${levels.join(', ')}, got ${text}`);
}
