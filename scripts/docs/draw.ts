// Draws the diagrams of the docs anew from the code: `npx tsx scripts/docs/draw.ts`.
import { transitions } from '../../lib/lifecycle/index.js';
import { drawDiagramOfPage } from './phase-diagram.js';

await drawDiagramOfPage(transitions);
