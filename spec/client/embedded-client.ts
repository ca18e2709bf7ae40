import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import type { EmbeddedApiServerOptions } from '../../lib/apiserver/internal.js';
import { createClient } from '../../lib/client/index.js';
import type { ClientSettings, ConnectedClient } from '../../lib/client/index.js';
import type { ConfigMap } from '../../lib/object/kinds.js';

/** An embedded server and a client of it, in this process. */
export interface EmbeddedClient {
  readonly server: EmbeddedApiServer;
  readonly client: ConnectedClient;
}

/** Starts an embedded server. Its namespaces are `default` and those of the system. */
export function embeddedClient(
  options: EmbeddedApiServerOptions = {},
  settings: ClientSettings = {},
): EmbeddedClient {
  const server = new EmbeddedApiServer(options);
  return { server, client: createClient({ transport: server.transport(), ...settings }) };
}

/** Returns a ConfigMap in the namespace `default`. */
export function configMapNamed(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data };
}
