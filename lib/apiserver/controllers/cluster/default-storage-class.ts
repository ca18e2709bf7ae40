import { isAlreadyExists } from '../../../object/api-error.js';
import type { StorageClass } from '../../../object/kinds.js';
import type { ControllerHost } from '../controller-host.js';
import { manager } from '../manager-name.js';
import { defaultClassAnnotation } from '../volume/index.js';

const standard: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [defaultClassAnnotation]: 'true' } },
  provisioner: 'operator-builder.io/simulated',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** Creates the default StorageClass, `standard`, unless it exists. */
export function startDefaultStorageClass(host: ControllerHost): void {
  const create = async (): Promise<void> => {
    try {
      await host.writer(manager).create(standard);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  host.queue('storage-class', create, (name: string) => name).add('standard');
}
