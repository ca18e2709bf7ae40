import { certificateFiles, generatedCertificates } from 'operator-builder';
import type { Manager } from 'operator-builder';
import type { CommandLine } from './command-line.js';
import { operator } from './operator.js';

type Options = ConstructorParameters<typeof Manager>[0];
type Client = NonNullable<Options['client']>;

/** How the metrics are served: as the command line says. */
export function metricsOptions(line: CommandLine, client: Client): Options['metrics'] {
  const { metricsPort: port, metricsCertDir: folder } = line;
  if (line.noMetrics) return { serve: false };
  const certificate = folder === undefined ? undefined : certificateFiles({ folder });
  if (!line.metricsAuth) return { port, certificate };
  return { port, access: 'reviewed', certificate: certificate ?? ownCertificate(line, client) };
}

function ownCertificate({ namespace }: CommandLine, client: Client) {
  const name = `${operator.name}-metrics-certificates`;
  const dnsNames = [`${operator.name}-controller-manager-metrics.${namespace}.svc`];
  return generatedCertificates({ client, secret: { namespace, name }, dnsNames });
}
