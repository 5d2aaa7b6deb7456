import type { Texts } from '../en/index.ts'

export const projects: Texts['projects'] = {
  title: 'Projekte',
  create: 'Neues Projekt',
  name: 'Name des Projekts',
  none: 'Kein Projekt',
  choose: 'Projekt',
  moveThing: (name) => `${name} in ein Projekt verschieben`,
  inProject: (name) => `Im Projekt ${name}`,
  leaveProject: 'Außerhalb des Projekts fragen',
  newChat: 'Neuer Chat in diesem Projekt',
  instructions: 'Anweisungen',
  instructionsLead: 'Jede Antwort in diesem Projekt hält sich daran.',
  instructionsExample: 'Antworte knapp, für jemanden, der hier neu ist.',
  files: 'Dateien',
  filesToAdd: 'Dateien für das Projekt',
  noFiles: 'Noch keine Dateien. Jede Antwort in diesem Projekt kann sich auf die stützen, die Sie hinzufügen.',
  reading: (name) => `${name} (wird gelesen)`,
  noChats: 'Noch keine Chats.',
  takeOut: (name) => `${name} aus dem Projekt nehmen`,
  delete: 'Projekt löschen',
  deleteLead: 'Seine Chats und Dateien bleiben.',
}
