import { answersSuite } from './answers-suite.js';

answersSuite('fields');
