import { doesTasksAt } from './console-task-looks.ts';

doesTasksAt({ width: 390, height: 844 });
