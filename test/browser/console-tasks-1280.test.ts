import { doesTasksAt } from './console-task-looks.ts';

doesTasksAt({ width: 1280, height: 860 });
