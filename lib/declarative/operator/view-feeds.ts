import type { ControllerSpec } from '../spec/operator-spec.js';
import { isWatched, viewId, viewKindOf } from './view-kinds.js';
import type { ViewKind } from './view-kinds.js';

/** A controller, as far as views are concerned. */
export interface ViewFeed {
  /** The name of its operator. */
  readonly operator: string;
  readonly spec: ControllerSpec;
  /** Whether its first full pass is written: then the views that it writes are as they are to be. */
  readonly isSynced: boolean;
}

/** Controllers that can be fed by others. */
export interface FedControllers {
  readonly feeds: readonly ViewFeed[];
  /** Starts those whose views are filled by now. */
  startFed(): void;
}

/**
 * Who fills which views, of all operators that work together.
 *
 * Views are empty when a process begins. A controller that began before they are filled would find that
 * nothing is wanted any more of what it wrote in its last life, and delete it, only to write it again.
 */
export class ViewFeeds {
  readonly #members = new Set<FedControllers>();

  /** @returns what takes them out */
  add(member: FedControllers): () => void {
    this.#members.add(member);
    return () => {
      this.#members.delete(member);
      this.notify();
    };
  }

  /** Whether all views that a controller reads are filled, but for those that it feeds itself. */
  isFed(controller: ViewFeed): boolean {
    return this.#feedersOf(controller).every(
      (feeder) => feeder.isSynced || this.#isFedBy(feeder, controller),
    );
  }

  /** Call when a controller is synced, or has gone. */
  notify(): void {
    for (const member of this.#members) member.startFed();
  }

  /** Whether `controller` is fed by `other`, at first or at last hand: or is that itself. */
  #isFedBy(controller: ViewFeed, other: ViewFeed): boolean {
    const seen = new Set<ControllerSpec>();
    const reaches = (one: ViewFeed): boolean => {
      if (one.spec === other.spec) return true;
      if (seen.has(one.spec)) return false;
      seen.add(one.spec);
      return this.#feedersOf(one).some(reaches);
    };
    return reaches(controller);
  }

  #feedersOf({ operator, spec: { sources } }: ViewFeed): readonly ViewFeed[] {
    const read = new Set(
      sources.filter(isWatched).flatMap((source) => idsOf(viewKindOf(operator, source))),
    );
    const all = [...this.#members].flatMap(({ feeds }) => feeds);
    return all.filter((feed) =>
      idsOf(viewKindOf(feed.operator, feed.spec.target)).some((id) => read.has(id)),
    );
  }
}

function idsOf(view: ViewKind | undefined): readonly string[] {
  return view === undefined ? [] : [viewId(view)];
}
