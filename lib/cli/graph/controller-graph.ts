import type { Controller } from '../../controller/index.js';
import type { ControllerKind } from '../../controller/controller-definition.js';
import { Manager } from '../../manager/index.js';
import type { OperatorDefinition, Webhook } from '../../manager/index.js';
import { groupOfType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { createClient } from '../../client/index.js';
import type { Transport } from '../../system/transport.js';

/** What an operator of controllers is made of; JSON. */
export interface ControllerGraph {
  readonly operator: string;
  readonly controllers: readonly GraphedController[];
  readonly webhooks: readonly GraphedWebhook[];
}

/** A controller, and the kinds that it declares. */
export interface GraphedController {
  readonly name: string;
  readonly reconciles: GraphedKind;
  readonly owns: readonly GraphedKind[];
  readonly watches: readonly GraphedKind[];
}

/** A webhook, and the kind that it is asked about. */
export interface GraphedWebhook {
  readonly name: string;
  readonly type: Webhook['type'];
  readonly of: GraphedKind;
}

/** A kind; versions of one kind are the same objects. */
export interface GraphedKind {
  /** `''`: the core group. */
  readonly group: string;
  readonly kind: string;
}

/** What an operator declares. Nothing is asked of any server. */
export async function controllerGraph(operator: OperatorDefinition): Promise<ControllerGraph> {
  const client = createClient({ transport: nowhere });
  try {
    const manager = new Manager({ client, rbacPreflight: 'off' });
    await operator.setup(manager);
    return {
      operator: operator.name,
      controllers: manager.controllers.map(graphed),
      webhooks: (operator.webhooks ?? []).map(({ name, type, resource }) => ({
        ...{ name, type },
        of: { group: resource.group, kind: resource.kind },
      })),
    };
  } finally {
    await client.close();
  }
}

function graphed({ name, type, kinds }: Controller): GraphedController {
  const of = (role: ControllerKind['role']): readonly GraphedKind[] =>
    kinds.filter((each) => each.role === role).map((each) => kindOf(each.type));
  return { name, reconciles: kindOf(type), owns: of('owned'), watches: of('watched') };
}

function kindOf(type: Controller['type']): GraphedKind {
  return { group: groupOfType(type), kind: type.kind };
}

/** `setup` is to reach nothing. */
const nowhere: Transport = {
  request: () => {
    const message = 'setup of the operator reaches outside of its manager: do that in a runnable';
    return Promise.reject(new OperatorError('InvalidConfig', message));
  },
  close: () => Promise.resolve(),
};
