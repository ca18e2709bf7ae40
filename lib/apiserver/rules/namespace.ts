import type { KindRules } from './kind-rules.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { forbidden } from '../status-error.js';
import { withoutMembers } from '../../object/json.js';

interface NamespaceParts {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

const partsOf = (object: UnstructuredObject): NamespaceParts => object as NamespaceParts;
const immortal = ['default', 'kube-system', 'kube-public'];

/** The rules of Namespaces: a finalizer in `spec`, a phase, a label with the name. */
export const namespaceRules: KindRules = {
  nameFormat: 'label',
  defaults: (object) => {
    const { metadata } = object;
    if (metadata.name === undefined || metadata.name === '') return;
    metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  },
  prepareForCreate: (object) => {
    const { finalizers = [] } = partsOf(object).spec ?? {};
    const all = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
    object['spec'] = { finalizers: all };
  },
  initialStatus: () => ({ phase: 'Active' }),
  prepareForUpdate: (object, old) => {
    object['spec'] = old['spec'];
  },
  selectableFields: (object) => ({
    'status.phase': partsOf(object).status?.phase ?? '',
    name: object.metadata.name ?? '',
  }),
  isFinalized: (object) =>
    object.metadata.deletionTimestamp !== undefined &&
    (partsOf(object).spec?.finalizers ?? []).length === 0,
  markDeleted: (object) => {
    const metadata = withoutMembers(object.metadata, 'deletionGracePeriodSeconds');
    return { ...object, metadata, status: { ...partsOf(object).status, phase: 'Terminating' } };
  },
  beforeDelete: ({ metadata: { name = '' } }) => {
    if (!immortal.includes(name)) return;
    throw forbidden({ group: '', plural: 'namespaces', name }, 'this namespace may not be deleted');
  },
};
