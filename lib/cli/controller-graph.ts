import uniqBy from 'lodash/uniqBy.js';
import type { Controller, ControllerKind } from '../controller/index.js';
import type { Drawing, DrawnArrow, DrawnNode } from '../declarative/internal.js';
import { Manager } from '../manager/index.js';
import type { OperatorDefinition, RequiredAccess, Webhook } from '../manager/index.js';
import { groupOfType } from '../object/index.js';
import { unreachableClient } from './load-operator.js';

/** The parts of an operator with controllers, as JSON. */
export interface ControllerGraph {
  readonly operator: string;
  readonly controllers: readonly GraphedController[];
  readonly webhooks: readonly GraphedWebhook[];
}

/** A controller and the kinds that it declares. */
export interface GraphedController {
  readonly name: string;
  readonly reconciles: GraphedKind;
  readonly owns: readonly GraphedKind[];
  readonly watches: readonly GraphedKind[];
}

export interface GraphedWebhook {
  readonly name: string;
  readonly type: Webhook['type'];
  readonly of: GraphedKind;
}

/** Kind of objects, without a version: all versions of a kind serve the same objects. */
export interface GraphedKind {
  /** `''`: the core group. */
  readonly group: string;
  readonly kind: string;
}

/** Returns the graph of an operator's declarations; sends no request. */
export async function controllerGraph(operator: OperatorDefinition): Promise<ControllerGraph> {
  const client = unreachableClient(operator.name);
  try {
    const manager = new NotingManager({ client, rbacPreflight: 'off' });
    await operator.setup(manager);
    return {
      operator: operator.name,
      controllers: manager.controllers.map((each) => graphed(each, manager.requiresOf(each))),
      webhooks: (operator.webhooks ?? []).map(({ name, type, resource }) => ({
        ...{ name, type },
        of: { group: resource.group, kind: resource.kind },
      })),
    };
  } finally {
    await client.close();
  }
}

/** A manager that records the access that each controller requires. */
class NotingManager extends Manager {
  readonly #requires = new Map<unknown, readonly RequiredAccess[]>();

  override add(...[item, options = {}]: Parameters<Manager['add']>): ReturnType<Manager['add']> {
    this.#requires.set(item, options.requires ?? []);
    return super.add(item, options);
  }

  requiresOf(controller: Controller): readonly RequiredAccess[] {
    return this.#requires.get(controller) ?? [];
  }
}

function graphed(
  { name, type, kinds }: Controller,
  requires: readonly RequiredAccess[],
): GraphedController {
  const of = (role: ControllerKind['role']): readonly GraphedKind[] =>
    kinds.filter((each) => each.role === role).map((each) => kindOf(each.type));
  const declared = kinds.map((each) => idOf(each.type));
  // Lifecycle controllers find out their kinds while they run; their rules list the kinds that they create.
  const made = requires
    .filter((access) => access.type !== undefined)
    .filter((access) => makes(access) && !declared.includes(idOf(access.type)))
    .map((access) => kindOf(access.type));
  const owns = uniqBy([...of('owned'), ...made], ({ group, kind }) => `${group}/${kind}`);
  return { name, reconciles: kindOf(type), owns, watches: of('watched') };
}

/** Whether the rule creates and deletes objects of the kind. */
function makes({
  verbs,
  subresource,
}: Extract<RequiredAccess, { readonly type: object }>): boolean {
  if (subresource !== undefined) return false;
  return verbs.includes('*') || (verbs.includes('create') && verbs.includes('delete'));
}

function idOf(type: Controller['type']): string {
  return `${groupOfType(type)}/${type.kind}`;
}

function kindOf(type: Controller['type']): GraphedKind {
  return { group: groupOfType(type), kind: type.kind };
}

const asks: Readonly<Record<GraphedWebhook['type'], string>> = {
  conversion: 'is converted by',
  mutating: 'is completed by',
  validating: 'is checked by',
};

/** Returns the drawing of an operator: its controllers in a frame, the kinds around them. */
export function controllerDrawing({ operator, controllers, webhooks }: ControllerGraph): Drawing {
  const kinds = [
    ...controllers.flatMap(({ reconciles, owns, watches }) => [reconciles, ...watches, ...owns]),
    ...webhooks.map(({ of }) => of),
  ];
  const nodes = new Map(kinds.map((kind) => [kindId(kind), kindNode(kind)]));
  const inside = [
    ...controllers.map(({ name }): DrawnNode => ({ id: name, look: 'stage', lines: [name] })),
    ...webhooks.map((webhook): DrawnNode => ({
      ...{ id: webhookId(webhook), look: 'trigger' },
      lines: [webhook.name, `${webhook.type} webhook`],
    })),
  ];
  return {
    nodes: [...nodes.values()],
    frames: [
      ...(inside.length === 0
        ? []
        : [
            {
              id: 'operator',
              look: 'operator',
              title: operator,
              nodes: inside,
              frames: [],
            } as const,
          ]),
    ],
    arrows: [
      ...controllers.flatMap(({ name, reconciles, owns, watches }): readonly DrawnArrow[] => [
        { from: kindId(reconciles), to: name, lines: ['is reconciled by'] },
        ...watches.map((kind) => ({ from: kindId(kind), to: name, lines: ['is watched by'] })),
        ...owns.map((kind) => ({ from: name, to: kindId(kind), lines: ['owns'] })),
      ]),
      ...webhooks.map((webhook) => ({
        ...{ from: kindId(webhook.of), to: webhookId(webhook), lines: [asks[webhook.type]] },
      })),
    ],
  };
}

function kindNode(kind: GraphedKind): DrawnNode {
  const { group, kind: name } = kind;
  return { id: kindId(kind), look: 'kind', lines: group === '' ? [name] : [name, group] };
}

function kindId({ group, kind }: GraphedKind): string {
  return `kind ${group}/${kind}`;
}

function webhookId({ name, of }: GraphedWebhook): string {
  return `webhook ${name} ${kindId(of)}`;
}
