// The operator alone, as one deploys it: JSON lines on standard output, a clean stop on SIGTERM.
import { parseArgs } from 'node:util';
import {
  clientFromKubeConfig,
  defaultClient,
  dns1123LabelProblem,
  pinoLogger,
} from 'operator-builder';
import type { ImmutablePolicy } from 'operator-builder';
import { installCrd, runTenantOperator } from './operator.js';

const usage = `Usage: npm run parseable -- [options]

  --kubeconfig FILE       the cluster to work on (default: KUBECONFIG, ~/.kube/config, or in-cluster)
  --namespace NAME        only tenants of this namespace (default: all)
  --on-immutable POLICY   fail, recreate or recreateOrphan (default: fail); recreate takes over what
                          the original operator made, whose selectors differ
  --max-deletions N       how many objects of a tenant may be pruned at once: a number, or a share
                          such as 100% (default: half of them, at least 5)
  --log-level LEVEL       debug, info, warn or error (default: info)
  --help                  show this`;

const policies: readonly ImmutablePolicy[] = ['fail', 'recreate', 'recreateOrphan'];
const levels = ['debug', 'info', 'warn', 'error'] as const;

function oneOf<T extends string>(allowed: readonly T[], given: string, option: string): T {
  const found = allowed.find((each) => each === given);
  if (found === undefined)
    throw new TypeError(`${option}: want ${allowed.join(', ')}, got ${given}`);
  return found;
}

function checkNamespace(namespace: string | undefined): void {
  const problem = namespace === undefined ? undefined : dns1123LabelProblem(namespace);
  if (problem !== undefined) throw new TypeError(`--namespace: ${problem}`);
}

function deletionsOf(text: string | undefined): number | `${number}%` | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  if (/^\d{1,3}%$/.test(text)) return text as `${number}%`;
  throw new TypeError(`--max-deletions: want a number or a share such as 100%, got ${text}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string' },
      'on-immutable': { type: 'string', default: 'fail' },
      'max-deletions': { type: 'string' },
      'log-level': { type: 'string', default: 'info' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const onImmutable = oneOf(policies, values['on-immutable'], '--on-immutable');
  const logger = pinoLogger({ level: oneOf(levels, values['log-level'], '--log-level') });
  const { kubeconfig, namespace } = values;
  checkNamespace(namespace);
  const maxDeletions = deletionsOf(values['max-deletions']);
  const client = await (kubeconfig === undefined
    ? defaultClient({ logger })
    : clientFromKubeConfig({ path: kubeconfig, logger }));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      stop.abort();
    });
  }
  try {
    await installCrd(client, stop.signal);
    await runTenantOperator({
      ...{ client, logger, onImmutable, signal: stop.signal },
      ...(namespace !== undefined && { namespace }),
      ...(maxDeletions !== undefined && { maxDeletions }),
      onReady: () => logger.info('ready'),
    });
    logger.info('stopped');
  } finally {
    await client.close();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
