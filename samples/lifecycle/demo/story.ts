import type { Narrator } from '../../parseable/demo/narrator.js';
import type { SampleConfig } from '../sample-config.js';
import type { EventLog } from './event-log.js';
import type { RunningOperator } from './running-operator.js';
import type { SampleStage, Seen } from './stage.js';

/** What the story needs. */
export interface StoryOptions {
  readonly narrator: Narrator;
  readonly stage: SampleStage;
  readonly operator: RunningOperator;
  /** What the operator says. */
  readonly events: EventLog;
}

/** The life of a system: deployed, upgraded, refused a downgrade, healed, upgraded again, removed. */
export class Story {
  readonly #options: StoryOptions;

  constructor(options: StoryOptions) {
    this.#options = options;
  }

  /** @throws Error what was to happen did not. */
  async tell(): Promise<void> {
    await this.#deploy();
    await this.#upgrade();
    await this.#downgrade();
    await this.#heal();
    await this.#relabel();
    await this.#remove();
  }

  async #deploy(): Promise<void> {
    const { narrator, stage, operator, events } = this.#options;
    narrator.chapter('The operator 1.0.0 deploys', 'kubectl apply -f sample-config.yaml');
    const complete = events.next('DeployCompleted');
    await operator.replaceBy('1.0.0');
    await stage.create();
    await complete;
    this.#status(await stage.deployed('1.0.0'));
  }

  async #upgrade(): Promise<void> {
    const { narrator, stage, operator, events } = this.#options;
    narrator.chapter('It is upgraded to 1.1.0', 'kubectl set image deployment sample-operator …');
    const complete = events.next('DeployCompleted');
    await operator.replaceBy('1.1.0');
    await complete;
    this.#status(await stage.deployed('1.1.0'));
  }

  async #downgrade(): Promise<void> {
    const { narrator, stage, operator } = this.#options;
    narrator.chapter(
      'Somebody goes back to 1.0.0',
      'kubectl rollout undo deployment sample-operator',
    );
    const before = await stage.objects();
    await operator.replaceBy('1.0.0');
    const refused = await stage.until(({ status }) => refusal(status) !== undefined);
    narrator.line('noted', 'a condition says so, too', refusal(refused.status));
    const changed = missing(before, await stage.objects(), 'resourceVersion');
    if (changed.length > 0) throw new Error(`the downgrade changed ${listOf(changed)}`);
    narrator.line('well', 'nothing was changed');
  }

  async #heal(): Promise<void> {
    const { narrator, stage, operator } = this.#options;
    narrator.chapter('1.1.0 is back, and somebody edits by hand', 'kubectl edit deployment,…');
    await operator.replaceBy('1.1.0');
    await stage.until(({ status }) => refusal(status) === undefined);
    narrator.line('noted', 'image nginx:latest, a container more, a label, another page');
    await stage.editByHand();
    await stage.deployed('1.1.0');
    const { image, containers, serviceLabels, page = '' } = await stage.edits();
    narrator.line('well', `image ${image ?? ''}, ${containers} container`, 'reverted');
    narrator.line(
      'well',
      `label team=${serviceLabels['team'] ?? ''}`,
      'stays: labels are everyone’s',
    );
    narrator.line('well', page.trim(), 'stays: a ConfigMap belongs to whoever edits it');
    if (image !== 'nginx:1.29' || containers !== 1)
      throw new Error('the Deployment was not healed');
    if (serviceLabels['team'] !== 'night') throw new Error('the label of a user was taken away');
  }

  async #relabel(): Promise<void> {
    const { narrator, stage, operator, events } = this.#options;
    const command = 'kubectl set image deployment sample-operator …';
    narrator.chapter('It is upgraded to 2.0.0, which labels anew', command);
    const before = await stage.objects();
    const complete = events.next('DeployCompleted');
    await operator.replaceBy('2.0.0');
    await complete;
    this.#status(await stage.deployed('2.0.0'));
    const stayed = before.length - missing(await stage.objects(), before, 'uid').length;
    narrator.line('well', `${stayed} of ${before.length} objects are the same as before`);
    if (!(await stage.serves())) throw new Error('the Service leads to no pod');
  }

  async #remove(): Promise<void> {
    const { narrator, stage } = this.#options;
    narrator.chapter('It is removed', 'kubectl delete sampleconfig sample');
    const config = await stage.config();
    await stage.remove();
    await stage.gone(config);
    const left = await stage.objects();
    if (left.length > 0) throw new Error(`${listOf(left)} are left`);
    narrator.line('well', 'nothing is left');
  }

  #status({ status }: SampleConfig): void {
    const { phase = '', observedVersion = '', conditions = [] } = status ?? {};
    const said = conditions.map((condition) => `${condition.type}=${condition.status}`);
    this.#options.narrator.line('well', `${phase} ${observedVersion}`, said.join(' '));
  }
}

/** What is said of a downgrade, while there is one. */
function refusal(status: SampleConfig['status']): string | undefined {
  return status?.conditions?.find(
    ({ type, status: is }) => type === 'DowngradeRefused' && is === 'True',
  )?.message;
}

/** What `of` has and `from` has not. */
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
