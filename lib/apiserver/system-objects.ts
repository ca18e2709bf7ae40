import type { ServerCore } from './server-core.js';
import { createObject } from './writes/create-object.js';
import { decodeObject } from './writes/decode-object.js';
import { immortalNamespaces } from './writes/namespace-lifecycle.js';

/** Creates the objects of a new cluster: its namespaces. */
export function createSystemObjects(core: ServerCore): void {
  const kind = core.kinds.find('', 'v1', 'namespaces');
  if (kind === undefined) throw new Error('the data has no namespaces');
  for (const name of [...immortalNamespaces, 'kube-node-lease']) {
    const request = {
      kind,
      subresource: undefined,
      namespace: '',
      name: '',
      manager: 'kube-apiserver',
      dryRun: false,
      fieldValidation: 'Strict' as const,
      warn: () => undefined,
    };
    const value = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    createObject(core, { request, object: decodeObject(request, { value }) });
  }
}
