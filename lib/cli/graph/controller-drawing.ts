import type { Drawing, DrawnArrow, DrawnNode } from '../../declarative/graph/drawing.js';
import type { ControllerGraph, GraphedKind, GraphedWebhook } from './controller-graph.js';

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
