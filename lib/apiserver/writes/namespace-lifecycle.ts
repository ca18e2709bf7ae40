import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { subjectOf } from '../kinds/served-kind.js';
import { isLoose } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import { forbidden, notFound } from '../status-error.js';
import type { WriteRequest } from './write-request.js';

/** Namespaces that always exist and cannot be deleted. */
export const immortalNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

/**
 * Refuses creates in a namespace that is missing or being deleted.
 * @throws StatusError 404 missing, 403 with the cause `NamespaceTerminating`.
 */
export function checkNamespace(
  core: ServerCore,
  { kind }: WriteRequest,
  object: UnstructuredObject,
): void {
  const { namespace = '', name = '' } = object.metadata;
  if (namespace === '' || !kind.type.namespaced || isLoose(core, kind)) return;
  const found = core.view.find('namespaces', namespace);
  if (found === undefined) {
    throw notFound({ group: '', plural: 'namespaces', name: namespace });
  }
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(subjectOf(kind, name), why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
