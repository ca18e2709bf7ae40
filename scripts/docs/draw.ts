// Rewrites the generated parts of the docs: references, diagrams and tables of measurements.
// `npx tsx scripts/docs/draw.ts`
import { transitions } from '../../lib/lifecycle/reconciler/phases.js';
import { writeRules } from './api-evolution.js';
import { writeCommandLinePage } from './command-line.js';
import { writeDeclarativeReference } from './declarative-reference.js';
import { drawDiagramOfPage } from './phase-diagram.js';
import { writePerformancePage } from './performance.js';
import { writeReference } from './reference.js';
import { drawSampleGraphs } from './sample-graphs.js';

await drawDiagramOfPage(transitions);
await writeDeclarativeReference();
await writeCommandLinePage();
await writeRules();
await drawSampleGraphs();
await writePerformancePage();
await writeReference();
