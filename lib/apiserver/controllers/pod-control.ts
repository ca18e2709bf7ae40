import { isNamespaceTerminating, Pod } from '../../object/index.js';
import type { KubernetesObject } from '../../object/index.js';
import type { RecordEvent } from './controller-events.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { failureMessage } from './pod-state.js';

/** Creates and deletes the pods of a workload controller, with an event about the workload each time. */
export class PodControl {
  readonly #writer: ObjectWriter;
  readonly #record: RecordEvent;

  constructor(host: ControllerHost, record: RecordEvent) {
    this.#writer = host.writer(manager);
    this.#record = record;
  }

  async create(owner: KubernetesObject, pod: Pod): Promise<void> {
    try {
      const created = await this.#writer.create(pod);
      const message = `Created pod: ${created.metadata.name ?? ''}`;
      this.#record({ about: owner, reason: 'SuccessfulCreate', message });
    } catch (error) {
      if (!isNamespaceTerminating(error)) {
        const message = `Error creating: ${failureMessage(error)}`;
        this.#record({ about: owner, type: 'Warning', reason: 'FailedCreate', message });
      }
      throw error;
    }
  }

  async delete(owner: KubernetesObject, pod: Pod): Promise<void> {
    try {
      if (!(await this.#writer.delete(Pod, pod))) return;
      const message = `Deleted pod: ${pod.metadata.name ?? ''}`;
      this.#record({ about: owner, reason: 'SuccessfulDelete', message });
    } catch (error) {
      const message = `Error deleting: ${failureMessage(error)}`;
      this.#record({ about: owner, type: 'Warning', reason: 'FailedDelete', message });
      throw error;
    }
  }
}
