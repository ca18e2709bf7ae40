import { systemClock } from 'operator-builder';
import type { Playground } from '../../demo/playground.js';
import { sampleOperator } from '../operator.js';
import type { SampleConfig } from '../sample-config.js';
import { EventLog } from './event-log.js';
import type { SampleStage, Seen } from './stage.js';

const startMs = systemClock.monotonicMs();

/** The life of a system: deployed, upgraded, refused a downgrade, healed, upgraded again, removed. */
export class Story {
  readonly #playground: Playground;
  readonly #stage: SampleStage;
  /** Events of the operator. */
  readonly #log: EventLog;

  constructor(playground: Playground, stage: SampleStage) {
    this.#playground = playground;
    this.#stage = stage;
    this.#log = new EventLog(playground.narrator);
  }

  /** @throws Error an expected event did not happen. */
  async tell(): Promise<void> {
    const { narrator } = this.#playground;
    await this.#during('1.0.0', () => this.#deploy());
    await this.#during('1.1.0', () => this.#upgrade());
    const before = await this.#stage.objects();
    await this.#during('1.0.0', () => this.#downgrade(before));
    await this.#during('1.1.0', () => this.#heal());
    const healed = await this.#stage.objects();
    await this.#during('2.0.0', async () => {
      await this.#relabel(healed);
      await this.#remove();
    });
    narrator.title('Summary', `in ${((systemClock.monotonicMs() - startMs) / 1000).toFixed(1)} s`);
    for (const [reason, count] of this.#log.counts) narrator.line('noted', `${count} x ${reason}`);
  }

  /** Runs the operator of a release during `work`. Only one release runs at a time. */
  #during(release: string, work: () => Promise<void>): Promise<void> {
    const { namespace } = this.#playground;
    const onEvent = this.#log.tell;
    return this.#playground.run(sampleOperator({ release, namespace, onEvent }), work);
  }

  async #deploy(): Promise<void> {
    const complete = this.#log.next('DeployCompleted');
    this.#chapter('The operator 1.0.0 deploys', 'kubectl apply -f sample-config.yaml');
    await this.#stage.create();
    await complete;
    this.#status(await this.#stage.deployed('1.0.0'));
  }

  async #upgrade(): Promise<void> {
    const complete = this.#log.next('DeployCompleted');
    this.#chapter('It is upgraded to 1.1.0', 'kubectl set image deployment sample-operator …');
    await complete;
    this.#status(await this.#stage.deployed('1.1.0'));
  }

  async #downgrade(before: readonly Seen[]): Promise<void> {
    const { narrator } = this.#playground;
    const refusing = this.#log.next('DowngradeRefused');
    this.#chapter('It goes back to 1.0.0', 'kubectl rollout undo deployment sample-operator');
    await refusing;
    const refused = await this.#stage.until(({ status }) => refusal(status) !== undefined);
    narrator.line('noted', 'a condition says so, too', refusal(refused.status));
    const changed = missing(before, await this.#stage.objects(), 'resourceVersion');
    if (changed.length > 0) throw new Error(`the downgrade changed ${listOf(changed)}`);
    narrator.line('well', 'nothing was changed');
  }

  async #heal(): Promise<void> {
    const { narrator } = this.#playground;
    const stage = this.#stage;
    this.#chapter('1.1.0 is back, and objects are edited by hand', 'kubectl edit deployment,…');
    await stage.until(({ status }) => refusal(status) === undefined);
    narrator.line('noted', 'image nginx:latest, a container more, a label, another page');
    await stage.editByHand();
    await stage.deployed('1.1.0');
    const { image = '', containers, serviceLabels, page = '' } = await stage.edits();
    const { team = '' } = serviceLabels;
    narrator.line('well', `image ${image}, ${containers} container`, 'reverted');
    narrator.line('well', `label team=${team}`, 'stays: labels are everyone’s');
    narrator.line('well', page.trim(), 'stays: users own the data of the ConfigMap');
    if (image !== 'nginx:1.29' || containers !== 1)
      throw new Error('the Deployment was not healed');
    if (team !== 'night') throw new Error('the label of a user was taken away');
  }

  async #relabel(before: readonly Seen[]): Promise<void> {
    const complete = this.#log.next('DeployCompleted');
    const command = 'kubectl set image deployment sample-operator …';
    this.#chapter('It is upgraded to 2.0.0, with other labels', command);
    await complete;
    this.#status(await this.#stage.deployed('2.0.0'));
    const stayed = before.length - missing(await this.#stage.objects(), before, 'uid').length;
    const { narrator } = this.#playground;
    narrator.line('well', `${stayed} of ${before.length} objects are the same as before`);
    if (!(await this.#stage.serves())) throw new Error('the Service leads to no pod');
  }

  async #remove(): Promise<void> {
    this.#chapter('It is removed', 'kubectl delete sampleconfig sample');
    const config = await this.#stage.config();
    await this.#stage.remove();
    await this.#stage.gone(config);
    const left = await this.#stage.objects();
    if (left.length > 0) throw new Error(`${listOf(left)} are left`);
    this.#playground.narrator.line('well', 'nothing is left');
  }

  #chapter(text: string, command: string): void {
    this.#playground.narrator.chapter(text, command);
  }

  #status({ status }: SampleConfig): void {
    const { phase = '', observedVersion = '', conditions = [] } = status ?? {};
    const said = conditions.map((condition) => `${condition.type}=${condition.status}`);
    this.#playground.narrator.line('well', `${phase} ${observedVersion}`, said.join(' '));
  }
}

/** Returns the message of a refused downgrade; undefined if no downgrade is refused. */
function refusal(status: SampleConfig['status']): string | undefined {
  return status?.conditions?.find(
    ({ type, status: is }) => type === 'DowngradeRefused' && is === 'True',
  )?.message;
}

/** Returns the objects of `of` that `from` lacks. */
function missing(
  from: readonly Seen[],
  of: readonly Seen[],
  by: 'uid' | 'resourceVersion',
): readonly Seen[] {
  return of.filter((one) => !from.some((other) => other[by] === one[by]));
}

function listOf(objects: readonly Seen[]): string {
  return objects.map(({ name }) => name).join(', ');
}
