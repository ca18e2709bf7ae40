import { operatorGraph } from '../../../lib/declarative/graph/operator-graph.js';
import type { OperatorGraph } from '../../../lib/declarative/graph/operator-graph.js';
import { loadOperators } from '../../../lib/declarative/spec/load-operator.js';

/** Returns the graph of the operators of a YAML text; an unnamed operator is called `op`. */
export function graphOf(text: string): OperatorGraph {
  const operators = loadOperators(text, 'operator.yaml');
  return operatorGraph(operators.map(({ name = 'op', spec }) => ({ name, spec })));
}

/** Returns the graph of one controller in which everything has the name `text`. */
export function graphWith(text: string): OperatorGraph {
  const source = { apiGroup: '', kind: 'Pod', type: 'Watcher', as: text, periodMs: 0 } as const;
  const controller = {
    name: text,
    sources: [source],
    pipeline: { '@project': { [`a${text}`]: 1 } },
    target: { kind: `V${text}`, type: 'Updater' },
  } as const;
  return operatorGraph([{ name: 'op', spec: { controllers: [controller] } }]);
}
