import { answersSuite } from './answers-suite.js';

answersSuite('workloads');
