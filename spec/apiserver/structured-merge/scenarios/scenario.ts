/** A write in a scenario. */
export interface Step {
  readonly verb: 'create' | 'apply' | 'merge' | 'json' | 'strategic';
  readonly manager: string;
  /** The object, or the patch. */
  readonly body: unknown;
  readonly force?: boolean;
  readonly subresource?: 'status' | 'scale';
}

/** A kind that scenarios write. */
export interface ScenarioKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/** Writes to one object in order, recorded on a real server. */
export interface Scenario {
  readonly title: string;
  readonly on: ScenarioKind;
  readonly steps: readonly Step[];
}

type Body = Readonly<Record<string, unknown>>;

/** Creates an apply of `body`, which may contain metadata such as labels. */
export const apply = (manager: string, body: Body, more: Partial<Step> = {}): Step => ({
  verb: 'apply',
  manager,
  body,
  ...more,
});

export const force = (manager: string, body: Body): Step => apply(manager, body, { force: true });

export const create = (manager: string, body: Body): Step => ({ verb: 'create', manager, body });

/** Creates an update: the result of read, change and write back. */
export const update = (manager: string, body: Body, more: Partial<Step> = {}): Step => ({
  verb: 'merge',
  manager,
  body,
  ...more,
});

export const jsonPatch = (manager: string, body: readonly unknown[]): Step => ({
  verb: 'json',
  manager,
  body,
});

export const strategic = (manager: string, body: Body): Step => ({
  verb: 'strategic',
  manager,
  body,
});
