import type { Client, Logger } from 'operator-builder';
import { runSampleOperator } from '../operator.js';
import type { EventLog } from './event-log.js';

/** What the operator needs, whichever release it is. */
export interface OperatorSetting {
  readonly client: Client;
  readonly namespace: string;
  readonly logger: Logger;
  readonly events: EventLog;
}

/** One operator at a time: another release takes the place of the one that runs. */
export class RunningOperator {
  readonly #setting: OperatorSetting;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(setting: OperatorSetting) {
    this.#setting = setting;
  }

  /** As `kubectl set image deployment sample-operator …`; resolves when it works. */
  async replaceBy(version: string): Promise<void> {
    await this.stop();
    const { events, ...setting } = this.#setting;
    this.#stop = new AbortController();
    const ready = new Promise<void>((resolve) => {
      this.#running = runSampleOperator({
        ...{ ...setting, version, signal: this.#stop.signal },
        ...{ onEvent: events.tell, onReady: resolve },
      });
    });
    await Promise.race([ready, this.#running]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
