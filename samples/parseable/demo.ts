// The Parseable operator's story in a terminal: `npm run demo`. No cluster is needed.
import { play } from '../demo/playground.js';
import { Story } from './demo/story.js';
import { tenantOperator } from './operator.js';

await play({
  title: 'operator-builder: the Parseable operator',
  namespace: 'parseable-demo',
  // Slow enough to see the pods roll one after the other.
  pods: { runningAfterMs: 60, readyAfterMs: 180, terminatedAfterMs: 80 },
  story: async (playground) => {
    const operator = tenantOperator([playground.namespace]);
    const story = new Story(playground, operator.events);
    await playground.run(operator, () => story.tell());
    await story.conclude();
  },
});
