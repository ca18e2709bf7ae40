import type { Narrator } from '../../demo/narrator.js';
import type { FakeRegistry } from '../registry.js';
import type { Seen, SiteStage } from './stage.js';

/** Options of the story. */
export interface StoryOptions {
  readonly narrator: Narrator;
  readonly stage: SiteStage;
  readonly registry: FakeRegistry;
}

/** A site's life: created by chain v1, moved to chain v2, deleted. */
export class Story {
  readonly #options: StoryOptions;

  constructor(options: StoryOptions) {
    this.#options = options;
  }

  /** @throws Error a pod was replaced by the migration, or the domain outlived the site. */
  async tell(): Promise<void> {
    await this.#create();
    await this.#migrate();
    await this.#remove();
  }

  async #create(): Promise<void> {
    const { narrator, stage, registry } = this.#options;
    narrator.chapter('A site is created, for chain v1', 'kubectl apply -f blog.yaml');
    await stage.create();
    const ready = await stage.settled('v1');
    for (const { name } of await stage.objects()) narrator.line('created', name);
    for (const domain of registry.domains) narrator.line('created', domain, 'in the registry');
    narrator.line('well', `${ready} Deployments ready`);
  }

  async #migrate(): Promise<void> {
    const { narrator, stage } = this.#options;
    narrator.chapter('It moves to chain v2', 'kubectl label site blog sites.example.com/chain=v2');
    const [before, pods] = [await stage.objects(), await stage.pods('web')];
    await stage.migrate();
    const ready = await stage.settled('v2');
    const [after, podsAfter] = [await stage.objects(), await stage.pods('web')];
    for (const { name } of missing(before, after)) narrator.line('created', name);
    for (const { name } of missing(after, before)) narrator.line('removed', name);
    for (const { name } of common(before, after)) narrator.line('noted', name, 'as it was');
    if (missing(pods, podsAfter).length > 0) throw new Error('pods of web were replaced');
    narrator.line('well', `${ready} Deployments ready, and the ${pods.length} pods of web run on`);
  }

  async #remove(): Promise<void> {
    const { narrator, stage, registry } = this.#options;
    narrator.chapter('It is deleted', 'kubectl delete site blog');
    await stage.remove();
    const finalizers = await stage.held();
    narrator.line('noted', `held by ${finalizers.join(', ')}`, 'the registry takes its time');
    await stage.gone();
    if (registry.domains.length > 0) throw new Error('the site is gone, its domain is not');
    narrator.line('removed', 'its domain', 'from the registry');
    narrator.line('removed', 'Site blog, and its namespace');
    narrator.line('well', 'nothing is left');
  }
}

/** Returns the objects of `of` that `from` lacks, by UID: a recreated object counts as new. */
function missing(from: readonly Seen[], of: readonly Seen[]): readonly Seen[] {
  return of.filter(({ uid }) => !from.some((other) => other.uid === uid));
}

function common(before: readonly Seen[], after: readonly Seen[]): readonly Seen[] {
  return after.filter(({ uid }) => before.some((other) => other.uid === uid));
}
