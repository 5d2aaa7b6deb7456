export { evaluate, type EvaluationSetting, type QuestionResult } from './evaluate.ts'
export { readQuestions, type EvaluationQuestion } from './questions.ts'
export { failureLines, faultOf, toReport, toTable, type EvaluationReport } from './report.ts'
